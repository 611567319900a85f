import { connect } from "node:net";
import { type RunningProcess, startProcess } from "../support/process.ts";
import { eventually } from "../support/time.ts";
import type { Site } from "./site.ts";

/** Starts HAProxy as deploy/haproxy.cfg says, only that it looks more often; resolves when it takes connections. */
export async function startHaproxy(program: string, site: Site): Promise<RunningProcess> {
  const { apiAddress, ports } = site;
  const config = (await site.read("node_modules", "binnacle", "deploy", "haproxy.cfg"))
    .replace(`bind :${ports.api}`, `bind ${apiAddress}:${ports.api}`)
    .replace("inter 2s", "inter 250ms")
    .replaceAll("/etc/binnacle", site.file("cluster"));
  await site.write("haproxy.cfg", config);
  const running = await startProcess(program, ["-db", "-f", site.file("haproxy.cfg")]);
  const isOpen = () => {
    if (running.hasExited) throw new Error(`HAProxy has ended: ${running.output()}`);
    return accepts(apiAddress, ports.api);
  };
  await eventually(isOpen, { withinMs: 20_000, everyMs: 50, what: "HAProxy takes connections" });
  return running;
}

function accepts(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host);
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
