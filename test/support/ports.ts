import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:net";

/**
 * Ports that Linux does not give to outgoing connections (these get 32768 and above). A port from that range could be taken
 * by a connection before the test listens on it.
 */
const FIRST = 15_000;
const LAST = 32_000;

/** Distinct loopback TCP ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Map<number, Server>();
  while (ports.size < count) {
    const port = randomInt(FIRST, LAST);
    // All are held open until all are known, or one could be chosen twice.
    const server = await listenAt(port);
    if (server !== undefined) ports.set(port, server);
  }
  await Promise.all(
    Array.from(ports.values(), async (server) => {
      server.close();
      await once(server, "close");
    }),
  );
  return [...ports.keys()];
}

/** A listener; undefined if the port is taken. */
async function listenAt(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return server;
  } catch {
    return undefined;
  }
}

/** One loopback TCP port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error("no port was asked for");
  return port;
}
