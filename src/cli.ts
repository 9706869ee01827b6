#!/usr/bin/env node
// The command line (DESIGN §9). What it imports statically is loaded before the compile cache is on.
import { keepCompiledCode } from "./runtime/compile-cache.ts";

keepCompiledCode();
await import("./cli/program.ts");
