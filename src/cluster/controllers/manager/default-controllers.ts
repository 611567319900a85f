/** The controllers that the API itself needs. They run unless `--controllers` says otherwise. */
export const DEFAULT_CONTROLLERS = [
  ...["garbage-collector-controller", "namespace-controller", "serviceaccount-controller"],
  ...["root-ca-certificate-publisher-controller", "clusterrole-aggregation-controller"],
  ...["validatingadmissionpolicy-status-controller", "resourcequota-controller"],
].join(",");
