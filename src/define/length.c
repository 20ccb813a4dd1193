// How long the text of kernels is, in operations: what drivers' compilers take their time for.
#include "define/program.h"

#include "base/minmax.h"

#include <stdlib.h>

// Of an expression: each part once, and each read with as much as its indices take.
static int operations_of(const struct definition *d, int node)
{
    int *order = mem_alloc(((size_t)node + 1) * sizeof *order), operations = 0;
    int count = definition_nodes_of(d, node, order);
    for (int i = 0; i < count; i++) {
        const struct node *n = &d->node[order[i]];
        operations += n->op == NODE_READ ? d->tensor[n->tensor].rank : node_operands(n->op) > 0;
    }
    free(order);
    return operations;
}

void program_count_operations(struct program *p)
{
    const struct definition *d = &p->inlined;
    for (int i = 0; i < p->kernel_count; i++) {
        struct program_kernel *k = &p->kernel[i];
        const struct constants *c = &k->constants;
        k->operations = operations_of(d, k->stage.body) + (k->stage.reduction != REDUCE_NONE);
        k->stored = 1 + (k->epilogue < 0 ? 0 : operations_of(d, k->epilogue));
        for (int j = 0; j < k->copies; j++) { // where it is in a copy is known when it is compiled
            struct program_copy *x = &k->copy[j];
            x->operations = operations_of(d, x->plain < 0 ? x->read : x->plain);
            k->operations -= operations_of(d, x->read) - 1;
        }
        k->operations = int_max(k->operations, 1 + k->copies);
        for (int j = 0; j < c->values; j++)
            k->written += operations_of(d, c->value[j]);
        for (int j = 0; j < c->reads; j++)
            k->written += c->plain[j] < 0 ? 0 : operations_of(d, c->plain[j]);
    }
}
