import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { suite, test } from "node:test";
import { kubectlFor } from "../../../test/support/kubectl.ts";
import { needs } from "../../../test/support/tools.ts";
import { startControlPlane } from "./control-plane.ts";

suite("kubectl top", needs("kubectl"), () => {
  test("shows the usage of nodes, Pods and containers", async (t) => {
    await using cp = await startControlPlane({ cluster: { nodes: 2 }, controllers: "*" });
    const directory = await mkdtemp(path.join(tmpdir(), "binnacle-top-"));
    t.after(() => rm(directory, { recursive: true, force: true }));
    const kubeconfig = path.join(directory, "kubeconfig");
    await writeFile(kubeconfig, cp.kubeconfig);
    const kubectl = async (...args: string[]) => {
      const { code, stdout, stderr } = await kubectlFor(kubeconfig)(args);
      return `${code === 0 ? "" : `${code}\n`}${stdout}${stderr}`.replace(/ +/g, " ").replace(/ $/gm, "").trim();
    };
    cp.cluster.image("shop/web:*", { usage: () => ({ cpu: "250m", memory: "64Mi" }) });
    cp.cluster.image("shop/cache:*", { usage: () => ({ cpu: "100m", memory: "128M" }) });
    const pod = (name: string, nodeName: string, images: readonly string[], app: string) => {
      const containers = images.map((image, index) => ({ name: `c${index}`, image }));
      return { apiVersion: "v1", kind: "Pod", metadata: { name, labels: { app } }, spec: { nodeName, containers } };
    };
    await cp.apply([
      pod("web", "node-1", ["shop/web:1", "shop/cache:1"], "web"),
      pod("plain", "node-2", ["nginx"], "plain"),
    ]);
    assert.match(await kubectl("wait", "--for=condition=Ready", "pod", "--all"), /condition met/);

    const header = "NAME CPU(cores) MEMORY(bytes)";
    assert.equal(await kubectl("top", "pods"), `${header}\nplain 1m 1Mi\nweb 350m 186Mi`);
    assert.equal(await kubectl("top", "pods", "--sort-by=cpu"), `${header}\nweb 350m 186Mi\nplain 1m 1Mi`);
    assert.equal(await kubectl("top", "pods", "-l", "app=web", "--no-headers"), "web 350m 186Mi");
    assert.equal(await kubectl("top", "pods", "--field-selector=metadata.name=plain"), `${header}\nplain 1m 1Mi`);
    assert.equal(await kubectl("top", "pod", "web", "--no-headers"), "web 350m 186Mi");
    assert.match(await kubectl("top", "pods", "--sum"), /\n _+ _+\n 351m 187Mi$/);
    assert.equal(
      await kubectl("top", "pods", "-A", "--containers"),
      "NAMESPACE POD NAME CPU(cores) MEMORY(bytes)\n" +
        "default plain c0 1m 1Mi\ndefault web c0 250m 64Mi\ndefault web c1 100m 122Mi",
    );
    assert.equal(
      await kubectl("top", "nodes"),
      "NAME CPU(cores) CPU(%) MEMORY(bytes) MEMORY(%)\nnode-1 350m 1% 186Mi 0%\nnode-2 1m 0% 1Mi 0%",
    );
    assert.equal(await kubectl("get", "pods.metrics.k8s.io", "web"), "NAME CPU MEMORY WINDOW\nweb 350m 190536Ki 15s");
    assert.equal(await kubectl("get", "nodes.metrics.k8s.io", "node-2"), "NAME CPU MEMORY WINDOW\nnode-2 1m 1Mi 15s");
    assert.match(await kubectl("get", "apiservice", "v1beta1.metrics.k8s.io"), /^v1beta1.metrics.k8s.io Local True/m);
    assert.match(await kubectl("explain", "podmetrics"), /^GROUP: metrics.k8s.io\nKIND: PodMetrics/);
    assert.equal(await kubectl("top", "pod", "other"), '1\nError from server (NotFound): pods "other" not found');
  });
});
