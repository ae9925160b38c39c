// The baseline of --help and --version: the startup of Node.
