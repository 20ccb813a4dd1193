// Preloaded into sanitized tests (tests/run.py): libraries stay loaded to the end, so that the leak
// checker, which runs last of all, can still tell by its name which driver a block belongs to.
int dlclose(void *handle);

int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
