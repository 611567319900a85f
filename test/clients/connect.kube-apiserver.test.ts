import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
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

  const seeTheSame = async (step: (server: ConnectedServer) => Promise<void>) => {
    for (const server of [theirs, ours]) server.node.seen.length = 0;
    await Promise.all([step(theirs), step(ours)]);
    assert.deepEqual(shown(ours), shown(theirs));
  };
  for (const [name, step] of steps) {
    test(`${name}; the node sees the same`, name.includes("-it") ? wants("script") : {}, () => seeTheSame(step));
  }

  test("both count the same", async () => {
    // The last streams are counted when they end.
    await eventually(() => ours.node.streams() === 0 && theirs.node.streams() === 0);
    const counted = async ({ client }: ConnectedServer) => {
      const { body } = await client.call("GET", "/metrics");
      return withEnds(String(body).split("\n").filter(isAboutStreams)).sort();
    };
    // kube-apiserver, too, may count the end of a stream after its node has seen it.
    const both = () => Promise.all([counted(ours), counted(theirs)]);
    await eventually(async () => isDeepStrictEqual(...(await both())), { everyMs: 50 }).catch(() => undefined);
    const [found, wanted] = await both();
    assert.ok(wanted.length > 10, wanted.join("\n"));
    assert.deepEqual(found, wanted);
  });

  // It leaves in the middle of streams, and how these are counted is a matter of time.
  test("the Python client; the node sees the same", wants("python-client"), () => seeTheSame(pythonSteps));

  test("no stream is left behind", async () => {
    await eventually(() => ours.node.streams() === 0);
  });
});

/** Lines of metrics about streams, with their descriptions; of requests that last only those that connect. */
function isAboutStreams(line: string): boolean {
  const isNamed =
    /^(?:# (?:HELP|TYPE) )?(?:apiserver_(?:stream_translator|stream_tunnel|websocket_streaming)_|kube_apiserver_pod_logs_)/;
  return isNamed.test(line) || (line.startsWith("apiserver_longrunning_requests{") && line.includes('verb="CONNECT"'));
}

/**
 * The lines, with one for the streams that were translated, whether they ended with 200 or 500. kube-apiserver counts 500
 * for a stream whose client was gone before the status could be written, which is a matter of time.
 */
function withEnds(lines: readonly string[]): string[] {
  const ended = /^apiserver_stream_translator_requests_total\{code="(?:200|500)"\} (\d+)$/;
  const counts = lines.map((line) => Number(ended.exec(line)?.[1] ?? 0));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return [...lines.filter((line) => !ended.test(line)), `translated streams that ended: ${total}`];
}

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
