import { type Kubeconfig, kubeconfigOf, printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { type Fetch, fetchFrom, type Send, sendFrom } from "../../serving/http/fetch.ts";
import type { Answer } from "../../serving/http/listener.ts";
import { type ApiConstructor, apiClient } from "./api-client.ts";
import { inProcessKubeConfig, type KubeConfig } from "./kube-config.ts";

/** Access to a control plane as one user. */
export class Access {
  /** The bearer token. */
  readonly token: string;
  /** `fetch` without a socket. Takes paths or URLs and adds the token. */
  readonly fetch: Fetch;
  readonly #send: Send;
  readonly #url: string;
  readonly #authority: string;
  readonly #userAgent: string;

  /** `answer` handles the requests. */
  constructor(url: string, authority: string, token: string, answer: Answer, userAgent = "binnacle-testing") {
    this.#url = url;
    this.#authority = authority;
    this.token = token;
    this.fetch = fetchFrom(answer, url, { token });
    this.#send = sendFrom(answer, { token });
    this.#userAgent = userAgent;
  }

  /** The text of a kubeconfig, for `KubeConfig.loadFromString`, kubectl, and clients in other processes. */
  get kubeconfig(): string {
    return printKubeconfig(this.#client);
  }

  /** The kubeconfig as an object. */
  get kubeconfigObject(): Kubeconfig {
    return kubeconfigOf(this.#client);
  }

  /**
   * A `KubeConfig` of `@kubernetes/client-node` 2 or newer. API clients, watches, informers and logs that are made from it
   * send requests without a socket.
   */
  kubeConfig(): KubeConfig {
    return inProcessKubeConfig(this.kubeconfig, this.fetch, this.#send);
  }

  /** An API of `@kubernetes/client-node` that sends requests without a socket: `client(CoreV1Api)`. */
  client<Api>(Api: ApiConstructor<Api>): Api {
    return apiClient(Api, this.#send, this.#url, this.#userAgent);
  }

  get #client() {
    return { server: this.#url, authority: this.#authority, user: { token: this.token } };
  }
}
