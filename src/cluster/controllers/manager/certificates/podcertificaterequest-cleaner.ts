import type { KubeObject } from "../../../../base/api/object.ts";
import { type Controller, unlessCode } from "../../shared/controller.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { periodic } from "../../shared/periodic.ts";

const NAME = "podcertificaterequest-cleaner-controller";
const EVERY_MS = 5 * 60_000;
/** Within this time a PodCertificateRequest is signed and the kubelet has read the certificate. */
const KEPT_MS = 15 * 60_000;

/** podcertificaterequest-cleaner-controller: deletes PodCertificateRequests 15 minutes after their creation. */
export function podRequestCleaner({ resources, client, informers, report }: ManagerContext): Controller {
  const { clock } = resources;
  const { informer: requests } = informers.of<KubeObject>("certificates.k8s.io", "podcertificaterequests");
  const isOld = ({ metadata }: KubeObject) => clock.now() >= Date.parse(metadata.creationTimestamp ?? "") + KEPT_MS;
  return periodic({
    name: NAME,
    everyMs: EVERY_MS,
    clock,
    report,
    informers: [requests],
    async sweep() {
      for (const { metadata } of [...requests.all()].filter(isOld)) {
        const { namespace = "", name = "", uid = "" } = metadata;
        // Others may be deleted although one of them fails.
        await client
          .delete(requests.resource, { namespace, name }, { preconditions: { uid } })
          .catch(unlessCode(404))
          .catch((error: unknown) => report(NAME, error));
      }
    },
  });
}
