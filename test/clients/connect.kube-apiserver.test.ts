import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { kubectlFor } from "../support/kubectl.ts";
import { type SeenRequest, startKubeletNode } from "../support/kubelet-node.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs, wants } from "../support/tools.ts";
import {
  type ConnectedServer,
  KUBECTL_STEPS,
  kubeconfigOf,
  LIBRARY_STEPS,
  placePod,
  pythonSteps,
  WAYS,
} from "./connect-steps.ts";

suite("streams to a node, with Binnacle and with the real server", {
  ...needs("kubectl", "kube-apiserver"),
  timeout: 180_000,
}, () => {
  let folder: string;
  let binnacle: RunningBinnacle;
  let oracle: Oracle;
  let ours: ConnectedServer;
  let theirs: ConnectedServer;

  const connected = async (name: string, base: string, node: ConnectedServer["node"]): Promise<ConnectedServer> => {
    const own = await mkdtemp(path.join(folder, `${name}-`));
    const kubeconfig = path.join(own, "kubeconfig");
    await writeFile(kubeconfig, kubeconfigOf(base, tokens.admin));
    const client = clientFor(base, tokens.admin);
    await placePod(client, node);
    return { base, node, client, kubectl: kubectlFor(kubeconfig), kubeconfig, folder: own };
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-connect-"));
    const nodes = await Promise.all([startKubeletNode(), startKubeletNode()]);
    [binnacle, oracle] = await Promise.all([
      startBinnacle({ flags: nodes[0].flags }),
      startOracle({ flags: nodes[1].flags }),
    ]);
    ours = await connected("ours", binnacle.base, nodes[0]);
    theirs = await connected("theirs", oracle.base, nodes[1]);
  });
  after(async () => {
    await Promise.all([binnacle?.kill(), oracle?.kill()]);
    await Promise.all([ours?.node.stop(), theirs?.node.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const steps: (readonly [name: string, step: (server: ConnectedServer) => Promise<void>])[] = [];
  for (const [way, env] of Object.entries(WAYS)) {
    for (const [name, step] of Object.entries(KUBECTL_STEPS)) {
      steps.push([`kubectl by ${way}: ${name}`, (server) => step(server, env)]);
    }
  }
  for (const [name, step] of Object.entries(LIBRARY_STEPS)) steps.push([`client-node: ${name}`, step]);

  steps.push(["the Python client", pythonSteps]);

  for (const [name, step] of steps) {
    const needed = name.startsWith("the Python") ? wants("python-client") : name.includes("-it") ? wants("script") : {};
    test(`${name}; the node sees the same`, needed, async () => {
      for (const server of [theirs, ours]) server.node.seen.length = 0;
      await Promise.all([step(theirs), step(ours)]);
      assert.deepEqual(shown(ours), shown(theirs));
    });
  }

  test("no stream is left behind", async () => {
    await eventually(() => ours.node.streams() === 0);
  });
});

/** Made up by each client, or by Node and Go for themselves. */
const OWN = new Set(["user-agent", "accept-encoding", "kubectl-session", "sec-websocket-key", "date"]);

/** What a node has seen, but for what no two requests have in common. */
function shown({ node, base }: ConnectedServer): unknown[] {
  const own = (value: unknown) =>
    String(value).replaceAll(String(node.port), "PORT").replaceAll(new URL(base).port, "SERVER");
  const one = ({ method, url, headers }: SeenRequest) => ({
    method,
    url: own(url).replace(/port=\d+/, "port=N"),
    headers: Object.entries(headers)
      .filter(([name]) => !OWN.has(name))
      .map(([name, value]) => `${name}: ${own(value)}`)
      .sort(),
  });
  return node.seen.map(one).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}
