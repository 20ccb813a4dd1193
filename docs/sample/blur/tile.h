static const unsigned blur_constants[] = {8, 8, 1};
