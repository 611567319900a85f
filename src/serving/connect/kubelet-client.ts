import type { IncomingMessage } from "node:http";
import { HttpClient } from "../../base/net/http-client.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { AddressRules } from "./addresses.ts";
import { type Backend, joinHostPort, openBackend } from "./backend.ts";
import type { KubeletOptions, NodeInfo } from "./nodes.ts";
import { kubeletTls, resolveAllowed } from "./proxy-targets.ts";

/** Connections are not reused, because most are upgraded and long-lived. */
const NODE_CONNECTIONS = { maxConnections: 10_000, keptConnections: 0 };

/** HTTP client for kubelets. */
export class KubeletClient {
  readonly http: HttpClient;
  readonly #options: KubeletOptions;
  readonly #rules: AddressRules;
  readonly #resolve: (host: string) => Promise<readonly string[]>;

  constructor(
    clock: Pick<Clock, "setTimer">,
    options: KubeletOptions,
    rules: AddressRules,
    resolve: (host: string) => Promise<readonly string[]>,
  ) {
    this.#options = options;
    this.#rules = rules;
    this.#resolve = resolve;
    this.http = new HttpClient({ clock, ...NODE_CONNECTIONS, dialTimeoutMs: options.timeoutMs });
  }

  /** The kubelet of a node. The host is resolved once. Throws BadRequest if its address is denied. */
  async backend({ host, port }: NodeInfo, skipsVerification = false): Promise<Backend> {
    const address = await resolveAllowed({ resolve: this.#resolve, rules: this.#rules }, host);
    return { host, port, address, tls: kubeletTls(this.#options, skipsVerification) };
  }

  /** Sends a GET request and resolves with the head of the response. */
  async get(backend: Backend, uri: string, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = { host: joinHostPort(backend.host, backend.port), "user-agent": "binnacle" };
    const outgoing = await openBackend(this.http, backend, { path: uri, headers, signal });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    outgoing.on("response", resolve).on("error", reject);
    outgoing.end();
    return promise;
  }
}
