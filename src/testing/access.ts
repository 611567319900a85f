import { type Kubeconfig, kubeconfigOf, printKubeconfig } from "../http/kubeconfig.ts";
import { type ApiConstructor, apiClient } from "./api-client.ts";
import type { Fetch } from "./fetch.ts";

/** One user of a control plane. */
export class Access {
  /** The bearer token. */
  readonly token: string;
  /** Asks without a socket. Paths are enough; the token is added. */
  readonly fetch: Fetch;
  readonly #url: string;
  readonly #authority: string;
  readonly #userAgent: string;

  constructor(url: string, authority: string, token: string, fetch: Fetch, userAgent = "binnacle-testing") {
    this.#url = url;
    this.#authority = authority;
    this.token = token;
    this.fetch = fetch;
    this.#userAgent = userAgent;
  }

  /** The text of a kubeconfig, for `KubeConfig.loadFromString`, kubectl, and clients in other processes. */
  get kubeconfig(): string {
    return printKubeconfig(this.#client);
  }

  /** The same as an object. */
  get kubeconfigObject(): Kubeconfig {
    return kubeconfigOf(this.#client);
  }

  /** An API of `@kubernetes/client-node` that asks without a socket: `client(CoreV1Api)`. */
  client<Api>(Api: ApiConstructor<Api>): Api {
    return apiClient(Api, this.fetch, this.#url, this.#userAgent);
  }

  get #client() {
    return { server: this.#url, authority: this.#authority, user: { token: this.token } };
  }
}
