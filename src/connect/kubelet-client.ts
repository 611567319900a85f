import type { IncomingMessage } from "node:http";
import { HttpClient } from "../client/http-client.ts";
import type { Clock } from "../lib/clock.ts";
import type { AddressRules } from "./addresses.ts";
import { type Backend, joinHostPort, openBackend } from "./backend.ts";
import type { KubeletOptions, NodeInfo } from "./nodes.ts";
import { kubeletTls, resolveAllowed } from "./proxy-targets.ts";

/** Every request has a connection of its own: most of them are taken over, and last. */
const NODE_CONNECTIONS = { maxConnections: 10_000, keptConnections: 0 };

/** Talks to the kubelets of nodes. */
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

  /** The kubelet of a node, by an address that is resolved once. Throws BadRequest for one that is not allowed. */
  async backend({ host, port }: NodeInfo, skipsVerification = false): Promise<Backend> {
    const address = await resolveAllowed({ resolve: this.#resolve, rules: this.#rules }, host);
    return { host, port, address, tls: kubeletTls(this.#options, skipsVerification) };
  }

  /** Asks for something, and resolves with the head of the answer. */
  async get(backend: Backend, uri: string, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = { host: joinHostPort(backend.host, backend.port), "user-agent": "binnacle" };
    const outgoing = await openBackend(this.http, backend, { path: uri, headers, signal });
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    outgoing.on("response", resolve).on("error", reject);
    outgoing.end();
    return promise;
  }
}
