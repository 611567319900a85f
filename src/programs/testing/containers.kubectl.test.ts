import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { kubectlFor, startKubectl } from "../../../test/support/kubectl.ts";
import { eventually } from "../../../test/support/time.ts";
import { needs } from "../../../test/support/tools.ts";
import { startControlPlane } from "./control-plane.ts";

suite("kubectl with containers as functions", needs("kubectl"), () => {
  test("reads logs, runs commands, attaches and forwards ports", async (t) => {
    await using cp = await startControlPlane({ cluster: true, controllers: "*" });
    const directory = await mkdtemp(path.join(tmpdir(), "binnacle-containers-"));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const kubeconfig = path.join(directory, "kubeconfig");
    await writeFile(kubeconfig, cp.kubeconfig);
    const kubectl = kubectlFor(kubeconfig);
    const { promise: leaving, resolve: leave } = Promise.withResolvers<void>();
    cp.cluster.image("shop/web:*", {
      async run({ log }) {
        log("started");
        await leaving;
        log("left");
      },
      http: (request) => new Response(`you asked for ${new URL(request.url).pathname}`),
      attach: ({ stdout }) => void stdout?.write("attached\n"),
      async exec({ command, stdin, stdout, stderr }) {
        if (command[0] === "hostname") return "web\n";
        if (command[0] === "cat" && stdin) for await (const chunk of stdin) stdout?.write(chunk);
        else stderr?.write(`${command[0]}: not found\n`);
        return command[0] === "cat" ? 0 : 127;
      },
    });
    const spec = (image: string) => ({ nodeName: "node-1", containers: [{ name: "main", image }] });
    for (const [name, image] of Object.entries({ web: "shop/web:1", plain: "nginx" })) {
      await cp.apply([{ apiVersion: "v1", kind: "Pod", metadata: { name }, spec: spec(image) }]);
    }
    const waited = await kubectl(["wait", "--for=condition=Ready", "pod/web", "pod/plain"]);
    assert.equal(waited.code, 0, waited.stderr);

    assert.equal((await kubectl(["logs", "web"])).stdout, "started\n");
    assert.equal((await kubectl(["exec", "web", "--", "hostname"])).stdout, "web\n");
    assert.equal((await kubectl(["exec", "-i", "web", "--", "cat"], { input: "text" })).stdout, "text");
    const missing = await kubectl(["exec", "web", "--", "vi"]);
    assert.deepEqual([missing.code, missing.stderr.split("\n")[0]], [127, "vi: not found"]);
    const refused = await kubectl(["exec", "plain", "--", "ls"]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /is simulated: no program runs in it\. Attach a function to its image/);

    const forward = await startKubectl(kubeconfig, ["port-forward", "pod/web", ":8080"]);
    t.after(() => forward.kill());
    await eventually(() => /Forwarding from 127\.0\.0\.1:\d+/.test(forward.output()));
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(forward.output()) ?? [];
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/path`)).text(), "you asked for /path");

    assert.match((await kubectl(["attach", "web"])).stdout, /^attached$/m);
    const followed = await startKubectl(kubeconfig, ["logs", "--follow", "web"]);
    t.after(() => followed.kill());
    await eventually(() => followed.output() === "started\n");
    leave();
    await followed.exited;
    assert.equal(followed.output(), "started\nleft\n");
  });
});
