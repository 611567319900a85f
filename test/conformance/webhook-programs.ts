import { mkdir, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { freePort } from "../support/ports.ts";
import { type RunningProcess, startProcess, waitUntilReady } from "../support/process.ts";
import { requireTool } from "../support/tools.ts";

const SERVICE = "e2e-test-webhook";
const SECRET = "sample-webhook-secret";

/**
 * Starts the webhook of the conformance tests as a local program for every Service that these make, with the certificate
 * of the namespace's Secret, as the kubelet would start it in a container; `ports` is the file that the server looks in.
 */
export class WebhookPrograms {
  readonly #client: Client;
  readonly #folder: string;
  readonly #ports: string;
  readonly #known: Record<string, number> = {};
  readonly #programs = new Map<string, RunningProcess>();
  readonly #stopping = new AbortController();
  readonly #following: Promise<void>;
  started = 0;

  constructor(base: string, folder: string, ports: string) {
    this.#client = clientFor(base, tokens.admin);
    this.#folder = folder;
    this.#ports = ports;
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following.catch(() => {});
    await Promise.all([...this.#programs.values()].map((program) => program.kill()));
  }

  async #follow(): Promise<void> {
    const at = `/api/v1/services?watch=1&fieldSelector=metadata.name%3D${SERVICE}`;
    for await (const { type, object } of this.#client.watch(at, this.#stopping.signal)) {
      const { namespace } = object.metadata;
      if (type === "ADDED") await this.#start(namespace);
      else if (type === "DELETED") await this.#end(namespace);
    }
  }

  async #start(namespace: string): Promise<void> {
    const { body } = await this.#client.call("GET", `/api/v1/namespaces/${namespace}/secrets/${SECRET}`);
    const folder = path.join(this.#folder, namespace);
    await mkdir(folder);
    const files = { certificate: path.join(folder, "tls.crt"), key: path.join(folder, "tls.key") };
    await writeFile(files.certificate, Buffer.from(body.data["tls.crt"], "base64"));
    await writeFile(files.key, Buffer.from(body.data["tls.key"], "base64"), { mode: 0o600 });
    const port = await freePort();
    const flags = [`--tls-cert-file=${files.certificate}`, `--tls-private-key-file=${files.key}`, `--port=${port}`];
    const program = await startProcess(requireTool("agnhost-webhook"), flags);
    this.#programs.set(namespace, program);
    await waitUntilReady(program, `https://127.0.0.1:${port}`, { token: "", withinMs: 30_000 });
    this.started += 1;
    await this.#tell({ [`${namespace}/${SERVICE}`]: port });
  }

  async #end(namespace: string): Promise<void> {
    await this.#programs.get(namespace)?.kill();
    this.#programs.delete(namespace);
  }

  /** The server reads the file whenever it calls a webhook, so that it must never be half written. */
  async #tell(more: Record<string, number>): Promise<void> {
    Object.assign(this.#known, more);
    await writeFile(`${this.#ports}.next`, JSON.stringify(this.#known));
    await rename(`${this.#ports}.next`, this.#ports);
  }
}
