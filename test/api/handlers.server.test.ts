import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Writable } from "node:stream";
import { after, before, suite, test } from "node:test";
import { Attach, Exec, KubeConfig, Log, PortForward, type V1Status } from "@kubernetes/client-node";
import { startServer } from "../../src/programs/library/start-server.ts";
import type { Server } from "../../src/programs/server/server.ts";
import type { CommandRequest } from "../../src/serving/connect/handlers/command-request.ts";
import type { Handlers } from "../../src/serving/connect/handlers/handlers.ts";
import { type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";
import { startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const NAMESPACE = "/api/v1/namespaces/default";

/** Commands of a pod, implemented as functions. */
async function shell({ command, stdin, stdout, stderr, signal }: CommandRequest): Promise<number | undefined> {
  const [program, ...args] = command;
  if (program === "echo") stdout?.write(`${args.join(" ")}\n`);
  else if (program === "fail") {
    stderr?.write("failing\n");
    return Number(args[0]);
  } else if (program === "throw") throw new Error("no such program");
  else if (program === "cat" || program === undefined) for await (const chunk of stdin ?? []) stdout?.write(chunk);
  else if (program === "wait") await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return undefined;
}

class Collected extends Writable {
  text = "";
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

suite("functions behind pods and services", () => {
  let server: Server;
  let client: Client;
  let folder: string;
  const config = new KubeConfig();
  const app = createServer((request, response) => response.end(`local ${request.url}`));
  let hook: WebhookServer;
  let left = 0;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-handlers-"));
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
    const { port } = app.address() as AddressInfo;
    hook = await startWebhookServer(["hook"]);
    const handlers: Handlers = {
      pod: ({ metadata }) =>
        metadata.name === "bare"
          ? {}
          : {
              exec: async (request) => {
                request.signal.addEventListener("abort", () => left++);
                return shell(request);
              },
              attach: shell,
              async *log({ container, tailLines = 2, follow, signal }) {
                for (let line = 1; line <= tailLines; line++) yield `${container} says ${line}\n`;
                if (follow) await new Promise((resolve) => signal.addEventListener("abort", resolve));
              },
              async port(number, connection) {
                if (number === 1) throw new Error("connection refused");
                connection.write(`port ${number}: `);
                for await (const chunk of connection) connection.write(chunk);
              },
            },
      service: ({ metadata }, name) => {
        if (metadata.name === "hook" && name === "") return { port: hook.port };
        return metadata.name === "svc" && name === "http" ? { port } : undefined;
      },
    };
    server = await startServer({ connect: { handlers }, log: false });
    client = clientFor(server.url, server.token);
    const kubeconfig = path.join(folder, "kubeconfig");
    await writeFile(kubeconfig, server.kubeconfig);
    config.loadFromFile(kubeconfig);
    const containers = [{ name: "main", image: "registry.example/app:1" }];
    for (const name of ["web", "bare"]) {
      const spec = { automountServiceAccountToken: false, containers };
      await eventually(
        async () => (await client.call("POST", `${NAMESPACE}/pods`, { metadata: { name }, spec })).status === 201,
      );
    }
    const ports = [{ name: "http", port: 80 }];
    await client.call("POST", `${NAMESPACE}/services`, { metadata: { name: "svc" }, spec: { ports } });
  });
  after(async () => {
    await server?.close();
    app.close();
    await hook?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const run = async (command: string[], input?: string) => {
    const [out, errors] = [new Collected(), new Collected()];
    const { promise, resolve } = Promise.withResolvers<V1Status>();
    const stdin = input === undefined ? null : new PassThrough();
    await new Exec(config).exec("default", "web", "main", command, out, errors, stdin, false, resolve);
    stdin?.end(input);
    return { status: await promise, out: out.text, errors: errors.text };
  };

  test("exec: output and success", async () => {
    const { status, out } = await run(["echo", "hello", "world"]);
    assert.deepEqual([status.status, out], ["Success", "hello world\n"]);
  });

  test("exec: the exit code, and exceptions of a function", async () => {
    const failed = await run(["fail", "7"]);
    assert.deepEqual(
      [failed.status.reason, failed.status.details?.causes?.[0]?.message, failed.errors],
      ["NonZeroExitCode", "7", "failing\n"],
    );
    const { status } = await run(["throw"]);
    assert.match(status.message ?? "", /error executing command in container: no such program/);
  });

  test("exec: input", async () => {
    const { out } = await run(["cat"], "hello");
    assert.equal(out, "hello");
  });

  test("exec: aborts the function's signal when the client leaves", async () => {
    left = 0;
    const socket = await new Exec(config).exec("default", "web", "main", ["wait"], new Collected(), null, null, false);
    socket.terminate?.();
    socket.close();
    await eventually(() => left > 0);
  });

  test("attach", async () => {
    const [out, input] = [new Collected(), new PassThrough()];
    const socket = await new Attach(config).attach("default", "web", "main", out, null, input, false);
    input.write("hello");
    await eventually(() => out.text === "hello");
    socket.close();
  });

  test("log, limited to what was requested", async () => {
    const out = new Collected();
    await new Log(config).log("default", "web", "main", out, { tailLines: 3 });
    await eventually(() => out.text === "main says 1\nmain says 2\nmain says 3\n");
    const { body } = await client.call("GET", `${NAMESPACE}/pods/web/log?limitBytes=6`);
    assert.equal(body, "main s");
  });

  test("port-forward", async () => {
    const [input, out, errors] = [new PassThrough(), new Collected(), new Collected()];
    const socket = await new PortForward(config, true).portForward("default", "web", [8080], out, errors, input);
    input.write("hello");
    await eventually(() => out.text === "port 8080: hello");
    if ("close" in socket) socket.close();
    const refused = await new PortForward(config, true).portForward(
      "default",
      "web",
      [1],
      out,
      errors,
      new PassThrough(),
    );
    await eventually(() => errors.text === "error forwarding port 1 to pod: connection refused");
    if ("close" in refused) refused.close();
  });

  test("a service maps to a local port, and only the requested port", async () => {
    const { status, body } = await client.call("GET", `${NAMESPACE}/services/svc:http/proxy/a?b=c`);
    assert.deepEqual([status, body], [200, "local /a?b=c"]);
    assert.equal((await client.call("GET", `${NAMESPACE}/services/svc:other/proxy/`)).status, 503);
  });

  test("a service's port is passed by name, also if requested by number", async () => {
    const { status, body } = await client.call("GET", `${NAMESPACE}/services/svc:80/proxy/`);
    assert.deepEqual([status, body], [200, "local /"]);
  });

  test("a webhook behind a service has a local port", async () => {
    await client.call("POST", `${NAMESPACE}/services`, {
      metadata: { name: "hook" },
      spec: { ports: [{ port: 443 }] },
    });
    const made = await client.call("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
      metadata: { name: "hook" },
      webhooks: [
        {
          name: "hook.example.com",
          clientConfig: {
            service: { namespace: "default", name: "hook", path: "/service/deny-message" },
            caBundle: hook.caBundle,
          },
          rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["configmaps"] }],
          objectSelector: { matchLabels: { asked: "yes" } },
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
        },
      ],
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const object = { metadata: { generateName: "a-", labels: { asked: "yes" } } };
    await eventually(async () => {
      const { status, body } = await client.call("POST", `${NAMESPACE}/configmaps`, object);
      if (status === 201) return false;
      assert.equal(body.message, 'admission webhook "hook.example.com" denied the request: no, never');
      return true;
    });
    assert.equal(hook.received.at(-1)?.headers.host, "hook.default.svc:443");
  });

  test("rejects requests that a pod has no function for", async () => {
    const { status, body } = await client.call("GET", `${NAMESPACE}/pods/bare/log`);
    assert.deepEqual([status, body.message], [400, "pod bare has no handler for log"]);
  });

  test("requires exports of the --handlers module", async () => {
    const file = path.join(folder, "empty.mjs");
    await writeFile(file, "export const other = 1;\n");
    await assert.rejects(startServer({ connect: { handlersFile: file }, log: false }), /exports no "handlers"/);
  });
});
