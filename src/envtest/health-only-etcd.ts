import { createServer, request, type Server } from "node:http";

/** A header of its answers, by which the kube-apiserver beside it knows that there is no store behind it. */
const MARK = "x-binnacle-store";
const TIMEOUT_MS = 2000;

/** Where etcd's `--listen-client-urls` tells it to listen, or its default. Throws when that is no address of ours. */
export function listenAddress(args: readonly string[]): { readonly host: string; readonly port: number } {
  const text = lastValue(args, "listen-client-urls")?.split(",")[0] ?? "http://localhost:2379";
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") throw new Error(`expected an http:// URL in --listen-client-urls, got ${text}`);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port: Number(url.port || 80) };
}

/** The last value of a flag in the form of Go's package flag: `--name=value`, `-name=value`, or with a space. */
function lastValue(args: readonly string[], name: string): string | undefined {
  const values = args.flatMap((arg, index) => {
    const flag = arg.replace(/^--?/, "");
    if (flag === arg) return [];
    if (flag === name) return args.slice(index + 1, index + 2);
    return flag.startsWith(`${name}=`) ? [flag.slice(name.length + 1)] : [];
  });
  return values.at(-1);
}

/**
 * Takes etcd's place where nobody but a test's health check asks it something: `GET /health` is answered as etcd does,
 * everything else with 404.
 */
export async function serveHealth({ host, port }: { host: string; port: number }): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const isHealth = /^\/health(\?|$)/.test(incoming.url ?? "");
    outgoing.writeHead(isHealth ? 200 : 404, { "content-type": "application/json", [MARK]: "memory" });
    outgoing.end(isHealth ? `{"health":"true","reason":""}` : "");
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  return server;
}

/** Whether `serveHealth` answers there. */
export function isHealthOnly(url: string): Promise<boolean> {
  if (!url.startsWith("http://") || !URL.canParse(url)) return Promise.resolve(false);
  return new Promise((resolve) => {
    const asking = request(new URL("/health", url), { timeout: TIMEOUT_MS, agent: false }, (answer) => {
      answer.destroy();
      resolve(answer.headers[MARK] === "memory");
    });
    asking.on("timeout", () => asking.destroy());
    asking.on("error", () => resolve(false));
    asking.end();
  });
}
