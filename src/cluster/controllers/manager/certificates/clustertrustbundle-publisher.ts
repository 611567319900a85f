import { createHash } from "node:crypto";
import type { KubeObject } from "../../../../base/api/object.ts";
import { pemBlocks } from "../../../../base/pki/pem.ts";
import { readCertificate } from "../../../../base/pki/x509-read.ts";
import { type Controller, idleController, unlessCode } from "../../shared/controller.ts";
import type { Credentials } from "../../shared/credentials.ts";
import { loop, type Source } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";

const NAME = "kube-apiserver-serving-clustertrustbundle-publisher-controller";
const SIGNER = "kubernetes.io/kube-apiserver-serving";

interface TrustBundle extends KubeObject {
  readonly spec?: { readonly signerName?: string; readonly trustBundle?: string };
}

/**
 * kube-apiserver-serving-clustertrustbundle-publisher-controller: keeps the CA of the API server in a ClusterTrustBundle of
 * the signer kubernetes.io/kube-apiserver-serving, and deletes all others of this signer.
 */
export function trustBundlePublisher(
  { resources, client, informers, report }: ManagerContext,
  { rootCa: trustBundle }: Pick<Credentials, "rootCa">,
): Controller {
  if (!isTrustBundle(trustBundle)) return idleController(NAME);
  const { clock, catalog } = resources;
  const { informer: bundles } = informers.of<TrustBundle>("certificates.k8s.io", "clustertrustbundles");
  const { definition } = bundles.resource;
  // Compat: written as `certificates.k8s.io/v1`, which is not the stored version.
  const served = catalog.find(definition.group, "v1", definition.plural) ?? bundles.resource;
  const { apiVersion } = served;
  const name = bundleName(trustBundle);

  const publish = async (): Promise<void> => {
    const known = bundles.get(name);
    const spec = { signerName: SIGNER, trustBundle };
    if (known === undefined) {
      await client.create(served, { kind: definition.kind, apiVersion, metadata: { name }, spec });
    } else if (known.spec?.trustBundle !== trustBundle) {
      await client.update(served, { ...known, apiVersion, spec: { ...known.spec, trustBundle } });
    }
  };

  /** Every change concerns the same work, which is also there if there are no bundles. */
  const source: Source = {
    load: (signal) => bundles.use(signal),
    observe: (queue) => {
      queue.add(SIGNER);
      return bundles.observe((before, after) => {
        if ((after ?? before)?.spec?.signerName === SIGNER) queue.add(SIGNER);
      });
    },
  };

  return loop({
    name: NAME,
    workers: 1,
    clock,
    report,
    sources: [source],
    async sync() {
      await publish();
      const others = [...bundles.all()].filter(({ metadata, spec }) => {
        return spec?.signerName === SIGNER && metadata.name !== name;
      });
      for (const { metadata } of others) {
        const key = { namespace: "", name: metadata.name ?? "" };
        await client.delete(bundles.resource, key).catch(unlessCode(404));
      }
    },
  });
}

/** A serving certificate that is trusted itself, without a CA, cannot be published. */
function isTrustBundle(pem: string): boolean {
  const certificates = [...pemBlocks(pem)].map(({ bytes }) => readCertificate(bytes));
  return certificates.length > 0 && certificates.every((certificate) => certificate?.isAuthority);
}

/** Compat: `constructBundleName`. */
function bundleName(trustBundle: string): string {
  const digest = createHash("sha256").update(trustBundle).digest("hex");
  return `${SIGNER.replaceAll("/", ":")}:${digest.slice(0, 24)}`;
}
