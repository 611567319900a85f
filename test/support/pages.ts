import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Program, requireTool } from "./tools.ts";

const root = path.join(import.meta.dirname, "..", "..");

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
}

/** Output of a shell. */
export interface Said {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The fenced blocks of a page, in order. */
export async function blocksOf(page: string): Promise<Block[]> {
  const text = await readFile(path.join(root, page), "utf8");
  const found = text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm);
  return Array.from(found, ([, language = "", inner = ""]) => ({ language, text: inner }));
}

/**
 * A working folder of a reader who follows a page: `binnacle`, `npx` and kubectl are on PATH, and packages are
 * installed.
 */
export class Reader implements AsyncDisposable {
  readonly folder: string;
  readonly env: Record<string, string | undefined>;

  private constructor(folder: string) {
    this.folder = folder;
    const { KUBECONFIG: _, BINNACLE_DATA_DIR: __, NODE_TEST_CONTEXT: ___, ...rest } = process.env;
    const PATH = [path.join(folder, "bin"), path.dirname(process.execPath), rest.PATH].join(path.delimiter);
    // The package's own name resolves to the sources.
    this.env = { ...rest, PATH, HOME: folder, NODE_OPTIONS: "--conditions=binnacle-source" };
  }

  static async open(...programs: Program[]): Promise<Reader> {
    const reader = new Reader(await mkdtemp(path.join(tmpdir(), "binnacle-reader-")));
    await reader.provide("binnacle", `"${process.execPath}" "${path.join(root, "src", "cli.ts")}"`);
    await reader.provide("kubectl", `"${requireTool("kubectl")}" --cache-dir="${path.join(reader.folder, "cache")}"`);
    for (const program of programs) await reader.provide(program, `"${requireTool(program)}"`);
    const modules = path.join(reader.folder, "node_modules");
    await mkdir(path.join(modules, "@kubernetes"), { recursive: true });
    await symlink(root, path.join(modules, "binnacle"));
    await mkdir(path.join(modules, ".bin"));
    const installed = path.join(modules, ".bin", "binnacle");
    await symlink(path.join(root, "src", "cli.ts"), installed);
    await reader.write(path.join("bin", "npx"), npx(`"${process.execPath}" "${installed}"`), 0o755);
    const client = path.join("@kubernetes", "client-node");
    await symlink(path.join(root, "node_modules", client), path.join(modules, client));
    return reader;
  }

  /** Creates a program on PATH that runs a command with its arguments. */
  async provide(name: string, command: string): Promise<void> {
    await this.write(path.join("bin", name), `#!/bin/sh\nexec ${command} "$@"\n`, 0o755);
  }

  async write(name: string, text: string, mode = 0o644): Promise<void> {
    const file = path.join(this.folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text, { mode });
  }

  /** Writes a block that begins with its file name. */
  async keep({ text }: Block): Promise<void> {
    const [, name] = /^(?:#|\/\/) (\S+)\n/.exec(text) ?? [];
    assert.ok(name, `which file is this?\n${text}`);
    await this.write(name, text);
  }

  async run(commands: string): Promise<Said> {
    const child = spawn("sh", ["-ec", commands], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const [code] = await once(child, "close");
    return { code, out: await out, err: await err };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A script that runs an installed program, like npx. Other programs are run as they are. */
function npx(binnacle: string): string {
  const run = `if [ "$1" = binnacle ]; then shift; exec ${binnacle} "$@"; fi`;
  return `#!/bin/sh\nexport npm_config_user_agent=npm/11\n${run}\nexec "$@"\n`;
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += chunk;
  return text;
}
