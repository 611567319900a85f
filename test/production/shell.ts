import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { chosenCli } from "../support/binnacle.ts";
import { requireTool, wants } from "../support/tools.ts";
import type { Services } from "./services.ts";
import type { Site } from "./site.ts";

const page = path.join(import.meta.dirname, "..", "..", "docs", "production.md");

/**
 * Runs the commands of docs/production.md, in the administrator's folder. `ssh` and `scp` lead to the folders of the
 * hosts, and `systemctl` there to `Services`; all other programs are the real ones.
 */
export class Shell {
  readonly #site: Site;
  readonly #services: Services;
  readonly #server: Server;
  #blocks = new Map<string, string>();
  readonly #done = new Set<string>();

  constructor(site: Site, services: Services) {
    this.#site = site;
    this.#services = services;
    this.#server = createServer((request, response) => {
      const [, verb = "", host = "", ...units] = decodeURI(request.url ?? "").split("/");
      this.#control(verb, host, units).then(
        () => response.end(),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  async open(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const sections = (await readFile(page, "utf8")).split(/^## /m).slice(1);
    this.#blocks = new Map(
      sections.flatMap((section) => {
        const [title = ""] = section.split("\n", 1);
        const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text);
        return blocks.map((text, at) => [at === 0 ? title : `${title} ${at + 1}`, text] as const);
      }),
    );
    await this.#writePrograms();
  }

  close(): void {
    this.#server.close();
  }

  /** The blocks of commands that were not run. */
  get unused(): string[] {
    return [...this.#blocks.keys()].filter((title) => !this.#done.has(title));
  }

  /** Runs the commands of a section, which has a number when it is not its first block, and resolves with what they print. */
  async run(title: string): Promise<string> {
    const text = this.#blocks.get(title);
    if (text === undefined) throw new Error(`docs/production.md has no commands under "${title}"`);
    this.#done.add(title);
    const [first = ""] = this.#blocks.values();
    return this.command(this.#site.localized(`${text === first ? "" : first}${text}`));
  }

  /** Runs any command there. */
  async command(text: string): Promise<string> {
    const env = { ...process.env, PATH: `${this.#site.file("bin")}:${process.env.PATH}` };
    const stdio: ("ignore" | "pipe")[] = ["ignore", "pipe", "pipe"];
    const child = spawn("sh", ["-euc", text], { cwd: this.#site.folder, env, stdio });
    let output = "";
    let errors = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk) => (output += chunk));
    child.stderr?.setEncoding("utf8").on("data", (chunk) => (errors += chunk));
    const [code] = await once(child, "close");
    if (code !== 0) throw new Error(`code ${code}: ${text}\n${output}\n${errors}`);
    return output;
  }

  async #control(verb: string, address: string, words: readonly string[]): Promise<void> {
    const host = this.#site.host(address);
    for (const unit of words.filter((word) => !word.startsWith("--"))) {
      if (verb === "start" || verb === "enable") await this.#services.start(host, unit);
      else if (verb === "stop") await this.#services.stop(host, unit);
      else if (verb === "restart") await this.#services.restart(host, unit);
      else throw new Error(`systemctl ${verb}`);
    }
  }

  async #writePrograms(): Promise<void> {
    const { port } = this.#server.address() as AddressInfo;
    const hosts = this.#site.file("hosts");
    const node = `exec "${process.execPath}"`;
    const url = `"http://127.0.0.1:${port}/" + [verb, process.env.SSH_HOST, ...words].join("/")`;
    const ask = `fetch(${url}, { method: "POST" }).then(async (answer) => { if (!answer.ok) throw new Error(await answer.text()) })`;
    const systemctl = `const [verb, ...words] = process.argv.slice(1); ${ask}`;
    const programs = {
      systemctl: `${node} -e '${systemctl}' "$@"`,
      // On a host, absolute paths are those of its folder.
      ssh: [
        "host=$1; shift",
        `command=$(printf %s "$*" | sed "s#/\\(etc/binnacle\\|etc/systemd\\|var/lib\\)#${hosts}/$host/\\1#g")`,
        'SSH_HOST=$host exec sh -euc "$command"',
      ].join("\n"),
      scp: [
        "for target; do :; done",
        `folder="${hosts}/\${target%%:*}/\${target#*:}"`,
        'while [ $# -gt 1 ]; do cp "$1" "$folder/"; shift; done',
      ].join("\n"),
      // There are no such users here.
      chown: ":",
      useradd: ":",
      binnacle: `${node} "${chosenCli}" "$@"`,
      ...Object.fromEntries(
        (["etcdctl", "etcdutl", "kubectl", "promtool"] as const)
          .filter((name) => wants(name).skip === undefined)
          .map((name) => [name, `exec "${requireTool(name)}" "$@"`]),
      ),
    };
    for (const [name, text] of Object.entries(programs)) {
      await this.#site.writeProgram(name, `#!/bin/sh\n${text}\n`);
    }
  }
}
