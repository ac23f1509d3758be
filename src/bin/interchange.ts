#!/usr/bin/env node
import { runProgram } from '../app/commands.ts';

process.exitCode = await runProgram(process.argv.slice(2));
