// What starting Node costs: the measure for --help and --version.
