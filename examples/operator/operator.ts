import {
  AppsV1Api,
  CoreV1Api,
  type Informer,
  type KubeConfig,
  makeInformer,
  type V1ConfigMap,
} from "@kubernetes/client-node";

const LABEL = "web.example/site";

/** A running operator. */
export interface Operator extends AsyncDisposable {
  readonly sites: Informer<V1ConfigMap>;
}

/**
 * Keeps a Deployment for every ConfigMap with the label `web.example/site`, with as many replicas as its data says. It asks
 * the server what is there before it writes: its own memory, an informer, may be behind.
 */
export async function startOperator(config: KubeConfig, namespace = "default"): Promise<Operator> {
  const core = config.makeApiClient(CoreV1Api);
  const apps = config.makeApiClient(AppsV1Api);
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  const list = () => core.listNamespacedConfigMap({ namespace, labelSelector: LABEL });
  const sites = makeInformer<V1ConfigMap>(config, path, list, LABEL);
  let isStopped = false;

  const reconcile = async (name: string): Promise<void> => {
    const site = await core.readNamespacedConfigMap({ name, namespace }).catch(unlessMissing);
    if (site === undefined) return apps.deleteNamespacedDeployment({ name, namespace }).then(ignore, unlessMissing);
    const replicas = Number(site.data?.replicas ?? 1);
    const current = await apps.readNamespacedDeployment({ name, namespace }).catch(unlessMissing);
    if (current === undefined) await apps.createNamespacedDeployment({ namespace, body: deployment(name, replicas) });
    else if (current.spec?.replicas !== replicas) {
      await apps.replaceNamespacedDeployment({
        name,
        namespace,
        body: { ...current, spec: { ...current.spec, replicas } as never },
      });
    }
  };

  /** One site at a time, again when it fails: another writer may have been faster, or the server be in trouble. */
  const queue = new Map<string, Promise<void>>();
  const enqueue = ({ metadata }: V1ConfigMap): void => {
    const name = metadata?.name ?? "";
    const before = queue.get(name) ?? Promise.resolve();
    const next = before.then(() =>
      retry(
        () => reconcile(name),
        () => isStopped,
      ),
    );
    queue.set(name, next);
  };
  for (const event of ["add", "update", "delete"] as const) sites.on(event, enqueue);
  sites.on("error", () => {
    if (!isStopped) void sites.start();
  });
  await sites.start();
  return {
    sites,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await sites.stop();
      await Promise.all(queue.values());
    },
  };
}

const ignore = (): void => {};

async function retry(work: () => Promise<void>, isStopped: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 5 && !isStopped(); attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 4) throw error;
    }
  }
}

function unlessMissing(error: { code?: number }): undefined {
  if (error.code !== 404) throw error;
}

function deployment(name: string, replicas: number) {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "nginx" }] } };
  return { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
}
