import { isDeepStrictEqual } from "node:util";
import {
  AppsV1Api,
  CoreV1Api,
  CustomObjectsApi,
  type KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  type V1Deployment,
} from "@kubernetes/client-node";
import { configMapOf, deploymentOf, LABEL, serviceOf } from "./children.ts";
import { isExpired, statusOf, WEBSITES, type Website } from "./website.ts";
import { WorkQueue } from "./work-queue.ts";

const FIELD_MANAGER = "website-operator";
const FINALIZER = "web.example/dns";

/** Where domains of websites are published. */
export interface Dns {
  publish(domain: string): Promise<void>;
  remove(domain: string): Promise<void>;
}

export interface OperatorOptions {
  readonly dns: Dns;
  readonly now?: () => Date;
  /** The delay before the first retry. It doubles with every failure. Default: 1000. */
  readonly retryMs?: number;
}

/** Maintains a ConfigMap, a Deployment and a Service for every Website. */
export class WebsiteOperator implements AsyncDisposable {
  readonly #config: KubeConfig;
  readonly #websites: CustomObjectsApi;
  readonly #objects: KubernetesObjectApi;
  readonly #options: Required<OperatorOptions>;
  readonly #queue: WorkQueue;
  readonly #informers: { stop(): Promise<void> }[] = [];
  #isStopped = false;

  private constructor(config: KubeConfig, { now = () => new Date(), retryMs = 1000, dns }: OperatorOptions) {
    this.#config = config;
    this.#options = { now, retryMs, dns };
    this.#websites = config.makeApiClient(CustomObjectsApi);
    this.#objects = KubernetesObjectApi.makeApiClient(config);
    this.#queue = new WorkQueue((key) => this.#reconcile(key), retryMs);
  }

  static async start(config: KubeConfig, options: OperatorOptions): Promise<WebsiteOperator> {
    const operator = new WebsiteOperator(config, options);
    const core = config.makeApiClient(CoreV1Api);
    const apps = config.makeApiClient(AppsV1Api);
    const labelSelector = LABEL;
    await Promise.all([
      operator.#inform("/apis/web.example/v1/websites", () => operator.#list()),
      operator.#inform(
        "/apis/apps/v1/deployments",
        () => apps.listDeploymentForAllNamespaces({ labelSelector }),
        LABEL,
      ),
      operator.#inform("/api/v1/configmaps", () => core.listConfigMapForAllNamespaces({ labelSelector }), LABEL),
      operator.#inform("/api/v1/services", () => core.listServiceForAllNamespaces({ labelSelector }), LABEL),
    ]);
    return operator;
  }

  /** Looks at all websites again, because time has passed. To be called every minute. */
  async resync(): Promise<void> {
    for (const website of (await this.#list()).items) this.#queue.add(keyOf(website));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#informers.map((informer) => informer.stop()));
    await this.#queue.stop();
  }

  /** Reconciles the websites whose objects change. Children have the name of their website. */
  async #inform<T extends KubernetesObject>(
    path: string,
    list: () => Promise<KubernetesListObject<T>>,
    labelSelector?: string,
  ): Promise<void> {
    const informer = makeInformer<T>(this.#config, path, list, labelSelector);
    informer.on("change", (object) => this.#queue.add(keyOf(object)));
    informer.on("error", () => {
      if (!this.#isStopped) setTimeout(() => void informer.start(), this.#options.retryMs);
    });
    await informer.start();
    this.#informers.push(informer);
  }

  async #reconcile(key: string): Promise<void> {
    const { dns, now } = this.#options;
    const website = await this.#read(key);
    if (website === undefined) return;
    const { domain } = website.spec;
    if (website.metadata?.deletionTimestamp !== undefined) return this.#finish(website);
    if (isExpired(website, now())) return void (await this.#websites.deleteNamespacedCustomObject(nameOf(website)));
    if (domain !== undefined) {
      // The next event continues with the finalizer in place.
      if (!finalizersOf(website).includes(FINALIZER))
        return this.#setFinalizers(website, [...finalizersOf(website), FINALIZER]);
      await dns.publish(domain);
    }
    await this.#apply(configMapOf(website));
    await this.#apply(serviceOf(website));
    const deployment = await this.#apply<V1Deployment>(deploymentOf(website));
    const status = statusOf(website, deployment, now());
    if (isDeepStrictEqual(status, website.status)) return;
    await this.#websites.replaceNamespacedCustomObjectStatus({ ...nameOf(website), body: { ...website, status } });
  }

  async #finish(website: Website): Promise<void> {
    if (!finalizersOf(website).includes(FINALIZER)) return;
    if (website.spec.domain !== undefined) await this.#options.dns.remove(website.spec.domain);
    await this.#setFinalizers(
      website,
      finalizersOf(website).filter((one) => one !== FINALIZER),
    );
  }

  #list(): Promise<KubernetesListObject<Website>> {
    const { group, version, plural } = WEBSITES;
    return this.#websites.listCustomObjectForAllNamespaces({ group, version, resourcePlural: plural });
  }

  /** The current website: the one of the event may be outdated. */
  async #read(key: string): Promise<Website | undefined> {
    const [namespace = "", name = ""] = key.split("/");
    return this.#websites.getNamespacedCustomObject({ ...WEBSITES, namespace, name }).catch((error) => {
      if (error.code !== 404) throw error;
    });
  }

  /** Server-side apply: creates the object, or sets the fields that this operator manages. */
  #apply<T extends KubernetesObject>(object: T): Promise<T> {
    return this.#objects.patch(
      object,
      undefined,
      undefined,
      FIELD_MANAGER,
      true,
      PatchStrategy.ServerSideApply,
    ) as Promise<T>;
  }

  async #setFinalizers(website: Website, finalizers: string[]): Promise<void> {
    const body = { ...website, metadata: { ...website.metadata, finalizers } };
    await this.#websites.replaceNamespacedCustomObject({ ...nameOf(website), body });
  }
}

const keyOf = ({ metadata }: KubernetesObject): string => `${metadata?.namespace}/${metadata?.name}`;
const finalizersOf = ({ metadata }: Website): string[] => metadata?.finalizers ?? [];

function nameOf({ metadata }: Website) {
  return { ...WEBSITES, namespace: metadata?.namespace ?? "", name: metadata?.name ?? "" };
}
