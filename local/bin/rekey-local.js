#!/usr/bin/env node
// It exists before the build, so that npm links the command in a clone too.
require("../dist/cli/main.js");
