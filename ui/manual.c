#include "keys.h"
#include "ui.h"

void ui_each_action(void (*group)(void *context, const char *name),
                    void (*action)(void *context, const char *keys, const char *name,
                                   const char *help),
                    void *context)
{
    for (int g = 0; g < GROUP_COUNT; g++) {
        group(context, action_groups[g]);
        for (int a = ACT_NONE + 1; a < ACT_COUNT; a++)
            if ((int)actions[a].group == g)
                action(context, actions[a].keys, actions[a].name, actions[a].help);
    }
}
