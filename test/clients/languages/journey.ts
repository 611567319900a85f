import { execFile } from "node:child_process";
import type { Command } from "./programs.ts";

/** How a program fared. */
export interface Journey {
  readonly isComplete: boolean;
  /** How many steps went as they should. */
  readonly steps: number;
  /** All that it wrote. */
  readonly output: string;
}

const TIME_LIMIT_MS = 180_000;

/** Runs a program with the client of a language against a server. */
export function travel([file, ...args]: Command, kubeconfig: string): Promise<Journey> {
  const env = { ...process.env, KUBECONFIG: kubeconfig };
  return new Promise((resolve) => {
    execFile(file, args, { env, timeout: TIME_LIMIT_MS }, (error, stdout, stderr) => {
      const steps = stdout.split("\n").filter((line) => line.startsWith("ok ")).length;
      resolve({ isComplete: error === null, steps, output: `${stdout}\n${stderr}` });
    });
  });
}
