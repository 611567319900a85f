import { createHash } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { checkOwnFolder, writeWhole } from "../../base/files/private-file.ts";
import { PACKAGE_VERSION } from "../../serving/endpoints/release.ts";
import { findProgram } from "./find-program.ts";
import { apiserverHelp, etcdHelp } from "./help.ts";
import { NODE_OPTIONS } from "./shared/start-host.ts";

/** How launchers start this program. */
export interface LauncherOptions {
  /** Path of the Node that runs this program. */
  readonly node: string;
  /** Path of the program `binnacle`. */
  readonly cli: string;
  /** Whether all suites of the machine share one process. */
  readonly isShared: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/**
 * Writes the folder for `KUBEBUILDER_ASSETS` and resolves to its path: launchers named kube-apiserver and etcd, and
 * kubectl if this machine has one. The contents of a folder never change, so several processes may write it
 * concurrently.
 */
export async function writeAssets(options: LauncherOptions): Promise<string> {
  const { node, cli, isShared, env, platform } = options;
  const kubectl = await findProgram("kubectl", env, platform);
  const identity = JSON.stringify([PACKAGE_VERSION, node, cli, isShared, kubectl, apiserverHelp(), etcdHelp()]);
  const hash = createHash("sha256").update(identity).digest("hex").slice(0, 16);
  const folder = path.join(cacheFolder(env, platform), "binnacle", `envtest-${hash}`);
  const light = [node, lightProgram(cli)];
  const programs: Readonly<Record<string, readonly string[]>> = {
    "kube-apiserver": isShared
      ? [...light, "kube-apiserver", sharedAddress(folder, platform), cli]
      : [node, ...NODE_OPTIONS, cli, "envtest", "kube-apiserver"],
    etcd: [...light, "etcd"],
    ...(kubectl !== undefined && { kubectl: [kubectl] }),
  };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Another user may have made it before.
  for (const checked of [path.dirname(folder), folder]) await checkOwnFolder(checked);
  const helps = { "kube-apiserver": apiserverHelp(), etcd: etcdHelp() };
  for (const [name, text] of Object.entries(helps)) await writeWhole(path.join(folder, `${name}.help`), text, 0o600);
  for (const [name, words] of Object.entries(programs)) {
    const help = Object.hasOwn(helps, name) ? path.join(folder, `${name}.help`) : undefined;
    if (platform === "win32") await writeWhole(path.join(folder, `${name}.cmd`), batch(words, help), 0o700);
    else await writeWhole(path.join(folder, name), script(words, help), 0o700);
  }
  return folder;
}

/** The program of `light.ts`: in the package it is next to the command. */
function lightProgram(cli: string): string {
  return path.join(path.dirname(cli), cli.endsWith(".ts") ? "programs/envtest/light.ts" : "light.js");
}

/** Maximum length of a socket path. */
const MAX_SOCKET_PATH = 100;

/** The socket of the shared process of a folder's launchers. Only this user may enter the folder. */
export function sharedAddress(folder: string, platform: NodeJS.Platform): string {
  if (platform === "win32") return `\\\\.\\pipe\\binnacle-${path.basename(folder)}`;
  const address = path.join(folder, "socket");
  if (Buffer.byteLength(address) <= MAX_SOCKET_PATH) return address;
  throw new Error(`${address} is too long for the path of a socket: let XDG_CACHE_HOME name a shorter folder`);
}

const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** envtest requests every program's flags before it starts it: that works without Node. */
function script(command: readonly string[], help: string | undefined): string {
  const answer = help === undefined ? "" : `case "$1" in --help|-h) exec cat ${shellQuote(help)} ;; esac\n`;
  return `#!/bin/sh\n${answer}exec ${command.map(shellQuote).join(" ")} "$@"\n`;
}

const batchQuote = (word: string): string => `"${word.replaceAll("%", "%%")}"`;

function batch(command: readonly string[], help: string | undefined): string {
  const answer = help === undefined ? "" : `@if "%~1"=="--help" (type ${batchQuote(help)} & exit /b 0)\r\n`;
  return `@echo off\r\n${answer}${command.map(batchQuote).join(" ")} %*\r\n`;
}

/** Compat: the folders of Go's `os.UserCacheDir`. */
function cacheFolder(env: LauncherOptions["env"], platform: NodeJS.Platform): string {
  if (platform === "win32") return env.LOCALAPPDATA || path.join(homedir(), "AppData", "Local");
  if (platform === "darwin") return path.join(env.HOME || homedir(), "Library", "Caches");
  return env.XDG_CACHE_HOME || path.join(env.HOME || homedir(), ".cache");
}
