import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { OPTIONAL } from "./skipped.ts";

/** A program that some tests need besides Node: built by `tools/provide`, or installed on the machine. */
export type Program = keyof typeof REMEDIES;

const REMEDIES = {
  etcd: "run tools/provide",
  etcdctl: "run tools/provide",
  etcdutl: "run tools/provide etcdutl",
  kubectl: "run tools/provide",
  "kube-apiserver": "run tools/provide",
  "e2e.test": "run tools/provide conformance",
  "agnhost-webhook": "run tools/provide conformance-webhook",
  "kube-controller-manager": "run tools/provide kube-controller-manager",
  "kube-scheduler": "run tools/provide kube-scheduler",
  kwok: "run tools/provide kwok",
  prometheus: "run tools/provide prometheus",
  promtool: "run tools/provide prometheus",
  helm: "run tools/provide helm",
  "python-client": "run tools/provide python-client",
  vitest: "run tools/provide vitest",
  jest: "run tools/provide jest",
  "node-26": "run tools/provide node-26",
  go: "install it",
  openssl: "install it",
  script: "install it",
  python3: "install it",
  java: "install it",
  mvn: "install it",
  cargo: "install it",
} as const;

const ON_PATH: readonly Program[] = ["go", "openssl", "script", "python3", "java", "mvn", "cargo"];

/** The cache folder of `tools/provide`. */
export function cacheFolder(): string {
  return process.env.BINNACLE_CACHE ?? path.join(homedir(), ".cache", "binnacle");
}

/** The expected path of a program, whether it exists or not; undefined if no folder of PATH has it. */
function locate(program: Program): string | undefined {
  if (!ON_PATH.includes(program)) return path.join(cacheFolder(), "bin", program);
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  return folders.map((folder) => path.join(folder, program)).find((file) => existsSync(file));
}

/** Whether a program is missing on this machine. */
export function isMissing(program: Program): boolean {
  const file = locate(program);
  return file === undefined || !existsSync(file);
}

/** Path of a program. Throws with instructions if it is missing. */
export function requireTool(program: Program): string {
  const file = locate(program);
  if (file === undefined || !existsSync(file)) throw new Error(`${file ?? program} is missing: ${REMEDIES[program]}`);
  return file;
}

/**
 * Options of a test or suite that needs these programs: it is skipped, with the reason, if one is missing. With
 * BINNACLE_REQUIRE_TOOLS set, as in CI, it runs and fails instead.
 */
export function needs(...programs: Program[]): { readonly skip?: string } {
  return process.env.BINNACLE_REQUIRE_TOOLS ? {} : skipWithout(programs, " is missing: ");
}

/** The same for optional programs: the test is skipped in CI too. */
export function wants(...programs: Program[]): { readonly skip?: string } {
  return skipWithout(programs, ` ${OPTIONAL}: `);
}

function skipWithout(programs: readonly Program[], what: string): { readonly skip?: string } {
  const missing = programs.filter(isMissing);
  if (missing.length === 0) return {};
  return { skip: missing.map((program) => `${program}${what}${REMEDIES[program]}`).join("; ") };
}

/** The same for a test of a given store: only etcd is a program. */
export function needsStore(store: "memory" | "sqlite" | "etcd", ...programs: Program[]): { readonly skip?: string } {
  return needs(...(store === "etcd" ? ["etcd" as const] : []), ...programs);
}
