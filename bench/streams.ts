import path from "node:path";
import { parseArgs } from "node:util";
import { placePod } from "../test/clients/connect-steps.ts";
import { startBinnacle } from "../test/support/binnacle.ts";
import { clientFor } from "../test/support/client.ts";
import { startKubeletNode } from "../test/support/kubelet-node.ts";
import { tokens } from "../test/support/oracle.ts";
import { type RunningProcess, startProcess } from "../test/support/process.ts";
import { eventually } from "../test/support/time.ts";
import {
  exchangeText,
  openExec,
  openExecOfNode,
  processorSeconds,
  readPort,
  residentBytes,
  startSource,
  upgrade,
} from "./streams-ends.ts";

/**
 * node bench/streams.ts [--megabytes 1024] [--streams 200] [--churn 10000]
 * Port-forward beside a bare TLS relay, the memory of open exec streams, and what streams leave behind that came and went.
 */
const { values } = parseArgs({
  options: {
    megabytes: { type: "string", default: "1024" },
    streams: { type: "string", default: "200" },
    churn: { type: "string", default: "10000" },
  },
});
const bytes = Number(values.megabytes) * 1024 * 1024;
const print = (line: string) => process.stdout.write(`${line}\n`);
const mb = (size: number) => `${(size / 1024 / 1024).toFixed(1)} MB`;

const node = await startKubeletNode();
// What is garbage is no memory of a stream: the server collects it, and tells what it holds, every second.
const teller = `let told = 0; setInterval(() => {
  gc();
  const { heapUsed, external } = process.memoryUsage();
  process.stdout.write("told " + told++ + " holds " + (heapUsed + external) + String.fromCharCode(10));
}, 1000).unref()`;
const nodeFlags = [
  "--max-semi-space-size=8",
  "--expose-gc",
  "--import",
  `data:text/javascript,${encodeURIComponent(teller)}`,
];
const server = await startBinnacle({ flags: node.flags, nodeFlags });
/** What a process's heap and buffers hold, in bytes: the least of the next three times that it tells. */
async function heldBytes({ output }: Pick<RunningProcess, "output">): Promise<number> {
  const last = () => output().slice(output().lastIndexOf("told "));
  const held: number[] = [];
  let seen = last();
  const hear = () => {
    const now = last();
    const [, size] = /holds (\d+)\n/.exec(now) ?? [];
    if (size === undefined || now === seen) return false;
    seen = now;
    held.push(Number(size));
    return held.length >= 3;
  };
  await eventually(hear, { withinMs: 120_000 });
  return Math.min(...held);
}
const relayFile = path.join(import.meta.dirname, "streams-relay.ts");
const relay = await startProcess(process.execPath, [...nodeFlags, relayFile, String(node.port), node.folder]);
const source = await startSource(bytes);
try {
  await eventually(() => relay.output().includes("listening"));
  const relayPort = Number(/listening (\d+)/.exec(relay.output())?.[1]);
  await placePod(clientFor(server.base, tokens.admin), node);
  const { pid } = server.process;
  const authorization = `Bearer ${tokens.admin}`;

  const ways = {
    "a bare TLS relay": {
      pid: relay.pid,
      open: () => upgrade(`https://127.0.0.1:${relayPort}/portForward/default/web`, {}),
    },
    Binnacle: {
      pid,
      open: () => upgrade(`${server.base}/api/v1/namespaces/default/pods/web/portforward`, { authorization }),
    },
  };
  const rates: number[] = [];
  for (const [name, way] of Object.entries(ways)) {
    const before = { cpu: processorSeconds(way.pid), memory: residentBytes(way.pid) };
    let peak = before.memory;
    const timer = setInterval(() => {
      peak = Math.max(peak, residentBytes(way.pid));
    }, 50);
    const { bytes: read, seconds } = await readPort(way.open, source.port);
    clearInterval(timer);
    rates.push(read / seconds);
    const cpu = processorSeconds(way.pid) - before.cpu;
    print(
      `port-forward of ${mb(read)} by ${name}: ${mb(read / seconds)}/s, ${cpu.toFixed(2)} s of processor time, ${mb(peak - before.memory)} more memory at most`,
    );
  }
  print(`rate beside the bare relay: ${((rates[1] ?? 0) / (rates[0] ?? 1)).toFixed(2)}`);

  const count = Number(values.streams);
  const idle = await heldBytes(server.process);
  const perStream: number[] = [];
  const memory = {
    "a bare TLS relay": { run: relay, open: () => openExecOfNode(`https://127.0.0.1:${relayPort}`, "mirror") },
    Binnacle: { run: server.process, open: () => openExec(server.base, tokens.admin, "mirror") },
  };
  for (const [name, { run, open }] of Object.entries(memory)) {
    const before = { held: await heldBytes(run), resident: residentBytes(run.pid) };
    const sockets = await Promise.all(Array.from({ length: count }, open));
    await Promise.all(sockets.map((socket) => exchangeText(socket, "x".repeat(100_000))));
    const held = (await heldBytes(run)) - before.held;
    perStream.push(held / count);
    const each = (bytes: number) => `${(bytes / count / 1024).toFixed(0)} KB`;
    print(
      `${count} exec streams open by ${name}, 100 KB each there and back: ${each(held)} a stream with its two TLS connections, ${each(residentBytes(run.pid) - before.resident)} resident`,
    );
    for (const socket of sockets) socket.terminate();
    await eventually(() => node.streams() === 0, { withinMs: 120_000 });
  }
  const [bare = 0, ours = 0] = perStream;
  print(`beyond the sockets' own: ${((ours - bare) / 1024).toFixed(0)} KB a stream`);

  const floods: Awaited<ReturnType<typeof openExec>>[] = [];
  while (floods.length < count) {
    const socket = await openExec(server.base, tokens.admin, "flood");
    socket.pause();
    floods.push(socket);
  }
  const flooded = await heldBytes(server.process);
  print(`${count} exec streams that nobody reads: ${((flooded - idle) / count / 1024).toFixed(0)} KB a stream`);
  for (const socket of floods) socket.terminate();
  await eventually(() => node.streams() === 0, { withinMs: 120_000 });

  const churn = Number(values.churn);
  const round = async (streams: number) => {
    for (let done = 0; done < streams; done += 50) {
      const opened = await Promise.all(Array.from({ length: 50 }, () => openExec(server.base, tokens.admin, "mirror")));
      for (const socket of opened) socket.terminate();
    }
    await eventually(() => node.streams() === 0, { withinMs: 120_000 });
  };
  await round(Math.min(1000, churn));
  const warm = { held: await heldBytes(server.process), resident: residentBytes(pid) };
  await round(churn);
  const after = { held: await heldBytes(server.process), resident: residentBytes(pid) };
  print(
    `${churn} exec streams opened and closed: ${mb(warm.held)} before, ${mb(after.held)} after; resident ${mb(warm.resident)} and ${mb(after.resident)}`,
  );
} finally {
  await Promise.all([server.kill(), relay.kill()]);
  source.close();
  await node.stop();
}
process.exit(0);
