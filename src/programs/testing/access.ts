import { type Kubeconfig, kubeconfigOf, printKubeconfig } from "../../data/kubeconfig/kubeconfig.ts";
import { type Fetch, fetchFrom, type Send, sendFrom } from "../../serving/http/fetch.ts";
import type { Answer } from "../../serving/http/listener.ts";
import type { ClientOptions, KindClient, Stored } from "../library/client/client-types.ts";
import type { InProcessAccess } from "../library/client/in-process-access.ts";
import type { User } from "../library/client/user.ts";
import type { KindReference, UntypedInput, UntypedObject } from "../library/kind-types.ts";
import { type ApiConstructor, apiClient } from "./api-client.ts";
import { inProcessKubeConfig, type KubeConfig } from "./kube-config.ts";

/** How to reach a control plane. */
export interface Route {
  readonly url: string;
  /** The CA that signed its certificate, as PEM. */
  readonly authority: string;
  /** Handles requests. */
  readonly answer: Answer;
  /** Makes clients of kinds. */
  readonly kindClient: InProcessAccess["client"];
}

const USER_AGENT = "binnacle-testing";

/** Access to a control plane as one user. */
export class Access {
  /** The bearer token. */
  readonly token: string;
  /** `fetch` without a socket. Takes paths or URLs and adds the token. */
  readonly fetch: Fetch;
  readonly #route: Route;
  readonly #user: User | undefined;
  readonly #send: Send;

  /** `user` is the user of the token. If omitted, the administrator. */
  constructor(route: Route, token: string, user?: User) {
    this.#route = route;
    this.#user = user;
    this.token = token;
    this.fetch = fetchFrom(route.answer, route.url, { token });
    this.#send = sendFrom(route.answer, { token });
  }

  /** The text of a kubeconfig, for `KubeConfig.loadFromString`, kubectl, and clients in other processes. */
  get kubeconfig(): string {
    return printKubeconfig(this.#connection);
  }

  /** The kubeconfig as an object. */
  get kubeconfigObject(): Kubeconfig {
    return kubeconfigOf(this.#connection);
  }

  /**
   * A `KubeConfig` of `@kubernetes/client-node` 2 or newer. API clients, watches, informers and logs that are made from it
   * send requests without a socket.
   */
  kubeConfig(): KubeConfig {
    return inProcessKubeConfig(this.kubeconfig, this.#send);
  }

  /** An API of `@kubernetes/client-node` that sends requests without a socket: `client(CoreV1Api)`. */
  client<Api>(Api: ApiConstructor<Api>): Api;
  /** A client of a kind that `defineKind` made, or of any other one. Sends requests without a socket. */
  client<Item extends Stored = UntypedObject, Input = UntypedInput>(
    kind: KindReference<Item, Input>,
    options?: ClientOptions,
  ): KindClient<Item, Input>;
  client<Item extends Stored = UntypedObject, Input = UntypedInput>(
    wanted: ApiConstructor<unknown> | KindReference<Item, Input>,
    options?: ClientOptions,
  ): unknown {
    const { url, kindClient } = this.#route;
    if (typeof wanted === "function") return apiClient(wanted, this.#send, url, USER_AGENT);
    return kindClient(wanted, { user: this.#user, ...options });
  }

  get #connection() {
    const { url, authority } = this.#route;
    return { server: url, authority, user: { token: this.token } };
  }
}
