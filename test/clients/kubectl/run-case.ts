import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { clientFor } from "../../support/client.ts";
import { type CommandResult, kubeconfigFor } from "../../support/kubectl.ts";
import { tokens } from "../../support/oracle.ts";
import type { Answer, Case, CommandStep, FileContent, ProxyStep, Step } from "./cases.ts";
import { nameOf } from "./cases.ts";
import { type Place, startCommand } from "./command.ts";
import { viewed, withoutMadeUp } from "./made-up.ts";
import { fillIn, splitWords } from "./words.ts";

/** A server that cases are run against, and a folder for their files. */
export interface Target {
  readonly base: string;
  readonly directory: string;
}

/** Runs a case in a namespace of its own and resolves with the answers to its steps. */
export async function runCase(target: Target, namespace: string, { files = {}, steps }: Case): Promise<Answer[]> {
  const directory = path.join(target.directory, namespace);
  await mkdir(directory, { recursive: true });
  await createNamespace(target.base, namespace);
  const values = new Map(Object.entries({ namespace, directory, server: target.base, token: tokens.admin }));
  for (const [name, content] of Object.entries(files))
    await writeCaseFile(path.join(directory, name), fillIn(textOf(content), values));
  const kubeconfig = path.join(directory, "kubeconfig");
  await writeFile(kubeconfig, JSON.stringify(kubeconfigFor(target.base, { namespace })), { mode: 0o600 });
  const env = { HOME: directory, KUBECONFIG: kubeconfig, PATH: process.env.PATH ?? "", LANG: "en_US.UTF-8", TZ: "UTC" };
  return new CaseRun({ directory, env }, values).steps(steps);
}

class CaseRun {
  readonly #place: Place;
  readonly #values: Map<string, string>;

  constructor(place: Place, values: Map<string, string>) {
    this.#place = place;
    this.#values = values;
  }

  async steps(steps: readonly Step[]): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (const step of steps) {
      if (typeof step === "string") answers.push(...(await this.#command({ run: step })));
      else answers.push(...("proxy" in step ? [await this.#proxy(step)] : await this.#command(step)));
    }
    return answers;
  }

  async #command(step: CommandStep): Promise<Answer[]> {
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, fillIn(value, this.#values)]);
    const place = { ...this.#place, env: { ...this.#place.env, ...Object.fromEntries(env) } };
    const input = fillIn(textOf(step.input ?? ""), this.#values);
    const command = startCommand(place, splitWords(fillIn(step.run, this.#values)), input);
    if (step.ready !== undefined) await command.wrote(step.ready);
    const others = await this.steps(step.meanwhile ?? []);
    if (step.until !== undefined) {
      await command.wrote(step.until);
      command.stop();
    }
    const result = await command.ended;
    if (step.keep !== undefined) this.#values.set(step.keep, result.stdout.trim());
    if (step.into !== undefined) await writeFile(path.join(this.#place.directory, step.into), result.stdout);
    return [this.#answer(step, step.until === undefined ? result : upTo(step.until, result)), ...others];
  }

  #answer(step: CommandStep, { code, stdout, stderr }: CommandResult): Answer {
    const isKept = step.keep !== undefined || step.into !== undefined;
    const seen = (text: string) => {
      const plain = text.replaceAll(this.#place.directory, "DIRECTORY");
      return viewed(isKept ? "code" : (step.compare ?? "all"), withoutMadeUp(plain));
    };
    return { step: nameOf(step), code, stdout: seen(stdout), stderr: seen(stderr) };
  }

  async #proxy(step: ProxyStep): Promise<Answer> {
    const command = startCommand(this.#place, ["proxy", ...splitWords(fillIn(step.proxy, this.#values))], "");
    const port = await command.wrote(/^Starting to serve on 127\.0\.0\.1:(\d+)$/m);
    let stdout = "";
    for (const name of step.paths) {
      const response = await fetch(`http://127.0.0.1:${port}${fillIn(name, this.#values)}`);
      const head = `${name} ${response.status} ${response.headers.get("content-type")}`;
      stdout += `${head}\n${withoutMadeUp(await response.text())}\n`;
    }
    command.stop();
    await command.ended;
    return { step: nameOf(step), code: 0, stdout, stderr: "" };
  }
}

/** What was written until it was told to end: how it ended is its own affair. */
function upTo(text: string, { stdout }: CommandResult): CommandResult {
  const found = stdout.indexOf(text);
  const end = found < 0 ? stdout.length : stdout.indexOf("\n", found) + 1;
  return { code: 0, stdout: stdout.slice(0, end === 0 ? undefined : end), stderr: "" };
}

function textOf(content: FileContent): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map((document) => JSON.stringify(document)).join("\n---\n");
  return JSON.stringify(content);
}

async function writeCaseFile(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  if (text.startsWith("#!")) await chmod(file, 0o755);
}

/** Without a controller manager nobody makes the service account that pods are created with. */
async function createNamespace(base: string, name: string): Promise<void> {
  const client = clientFor(base, tokens.admin);
  const create = async (url: string, body: unknown) => {
    const { status, body: answer } = await client.call("POST", url, body);
    if (status !== 201) throw new Error(`POST ${url}: ${status} ${JSON.stringify(answer)}`);
  };
  await create("/api/v1/namespaces", { metadata: { name } });
  await create(`/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
}
