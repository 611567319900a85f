// Area j: admission policies.

import { scenario, configMap, pod, object } from './lib.mjs';

const AREA = 'j admission policies';
const ADM = '/apis/admissionregistration.k8s.io/v1';
const CM = '/api/v1/namespaces/${ns}/configmaps';
const brief = { ignore: ['$.metadata.managedFields'] };
const quiet = { compare: 'status' };
const here = { namespaceSelector: { matchLabels: { golden: '${id}' } } };       // only namespaces of this run
const rule = (resources, operations = ['CREATE', 'UPDATE'], apiGroups = ['']) => ({ apiGroups, apiVersions: ['*'], operations, resources });
const vap = (name, spec) => object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicy', `${name}-\${id}`, { spec: { matchConstraints: { resourceRules: [rule(['configmaps'])], ...here }, ...spec } });
const vapBinding = (name, spec = {}) => object('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', `${name}-\${id}`, { spec: { policyName: `${name}-\${id}`, validationActions: ['Deny'], ...spec } });
const map = (name, spec) => object('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', `${name}-\${id}`, { spec: { matchConstraints: { resourceRules: [rule(['configmaps'])], ...here }, reinvocationPolicy: 'Never', ...spec } });
const mapBinding = (name, spec = {}) => object('admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', `${name}-\${id}`, { spec: { policyName: `${name}-\${id}`, ...spec } });
const VAPS = `${ADM}/validatingadmissionpolicies`;
const VAPBS = `${ADM}/validatingadmissionpolicybindings`;
const MAPS = `${ADM}/mutatingadmissionpolicies`;
const MAPBS = `${ADM}/mutatingadmissionpolicybindings`;

// A policy takes a moment to come into force: a dry run is repeated until it is refused.
const inForce = (s, id, body, status, path = CM) => s.post(id, path, body, { query: { dryRun: 'All' }, until: { status, withinMs: 20000, everyMs: 100 }, ...brief });
const install = (s, name, spec, bindingSpec) => {
  s.post(`policy-${name}`, VAPS, vap(name, spec), quiet);
  s.post(`binding-${name}`, VAPBS, vapBinding(name, bindingSpec), quiet);
};

{
  const s = scenario('policy-deny', AREA, { title: 'validating policies that refuse', namespaces: { ns: '', other: 'b' } });
  install(s, 'plain', { validations: [{ expression: "!has(object.data) || !('bad' in object.data)" }] });
  inForce(s, 'plain', configMap('x', { bad: '1' }), 422);
  s.post('plain-refused', CM, configMap('x', { bad: '1' }));
  s.post('plain-good', CM, configMap('good', { fine: '1' }), brief);
  s.patch('plain-patch-refused', 'merge', `${CM}/good`, { data: { bad: '1' } });
  s.apply('plain-apply-refused', `${CM}/good`, configMap('good', { bad: '1' }), 'm');
  s.put('plain-put-refused', `${CM}/good`, configMap('good', { bad: '1' }));
  s.del('plain-delete', `${CM}/good`);
  s.del('remove-plain', `${VAPBS}/plain-\${id}`, quiet);
  s.post('plain-off', CM, configMap('x', { bad: '1' }), { query: { dryRun: 'All' }, until: { status: 201, withinMs: 20000 }, ...brief });

  const reasons = { message: 'plain words', reason: 'Forbidden' };
  install(s, 'words', { validations: [
    { expression: "object.metadata.name != 'forbidden'", ...reasons },
    { expression: "object.metadata.name != 'unauthorized'", message: 'no good', reason: 'Invalid' },
    { expression: "object.metadata.name != 'large'", message: 'too much', reason: 'RequestEntityTooLarge' },
    { expression: "object.metadata.name != 'computed'", messageExpression: "'the name ' + object.metadata.name + ' is taken in ' + namespaceObject.metadata.name.substring(0, 2)" },
    { expression: "object.metadata.name != 'fallback'", messageExpression: "string(object.data['missing'])", message: 'the expression failed' },
    { expression: "object.metadata.name != 'multi'", message: 'first of two' },
    { expression: "object.metadata.name != 'multi'", message: 'second of two', reason: 'Forbidden' },
  ] });
  inForce(s, 'words', configMap('forbidden'), 403);
  for (const name of ['forbidden', 'unauthorized', 'large', 'computed', 'fallback', 'multi', 'allowed']) s.post(`words-${name}`, CM, configMap(name), brief);

  install(s, 'errors', { validations: [{ expression: "object.data['needed'] == 'x'" }], matchConditions: [{ name: 'only-errors', expression: "object.metadata.name.startsWith('err-')" }] });
  inForce(s, 'errors', configMap('err-probe', { needed: 'y' }), 422);
  s.post('errors-missing-key', CM, configMap('err-a', { other: 'y' }), { note: 'an expression that fails counts as a refusal with failurePolicy Fail' });
  s.post('errors-no-data', CM, configMap('err-b'));
  s.post('errors-good', CM, configMap('err-c', { needed: 'x' }), brief);
  s.post('errors-not-matched', CM, configMap('free', { needed: 'y' }), brief);

  install(s, 'lenient', { failurePolicy: 'Ignore', validations: [{ expression: "object.data['needed'] == 'x'" }], matchConditions: [{ name: 'only', expression: "object.metadata.name.startsWith('len-')" }] });
  inForce(s, 'lenient', configMap('len-probe', { needed: 'y' }), 422);
  s.post('lenient-missing-key', CM, configMap('len-a', { other: 'y' }), brief);
  s.post('elsewhere-other-resource', '/api/v1/namespaces/${ns}/secrets', object('v1', 'Secret', 'forbidden'), brief);
  s.post('elsewhere-other-namespace', '/api/v1/namespaces/default/configmaps', configMap('forbidden'), { query: { dryRun: 'All' }, ...brief });
  s.post('dry-run-refused', CM, configMap('forbidden'), { query: { dryRun: 'All' } });
}
{
  const s = scenario('policy-requests', AREA, { title: 'what the expressions of a policy can see', serviceAccounts: ['ns'], alone: true });
  install(s, 'update', { matchConstraints: { resourceRules: [rule(['configmaps'], ['UPDATE'])], ...here }, validations: [{ expression: "!('locked' in oldObject.metadata.annotations) || object.data == oldObject.data", message: 'locked' }], matchConditions: [{ name: 'annotated', expression: 'has(oldObject.metadata.annotations)' }] });
  install(s, 'delete', { matchConstraints: { resourceRules: [rule(['configmaps'], ['DELETE'])], ...here }, validations: [{ expression: "object == null && oldObject.metadata.name != 'kept'", message: 'this one stays' }] });
  install(s, 'user', { validations: [{ expression: "request.userInfo.username == 'admin' && request.operation in ['CREATE', 'UPDATE'] && request.resource.resource == 'configmaps' && request.namespace == object.metadata.namespace", message: 'only admin' }], matchConditions: [{ name: 'n', expression: "request.name.startsWith('user-')" }] });
  install(s, 'variables', { variables: [{ name: 'count', expression: 'has(object.data) ? object.data.size() : 0' }, { name: 'double', expression: 'variables.count * 2' }], validations: [{ expression: 'variables.double < 6', messageExpression: "'too many: ' + string(variables.count)" }] });
  install(s, 'authorizer', { validations: [{ expression: "authorizer.group('').resource('secrets').namespace(object.metadata.namespace).check('get').allowed()", message: 'you cannot read secrets' }, { expression: "authorizer.requestResource.check('create').allowed()", message: 'no' }], matchConditions: [{ name: 'n', expression: "request.name.startsWith('authz-')" }] });
  install(s, 'namespace', { validations: [{ expression: "'golden' in namespaceObject.metadata.labels", message: 'no label' }] });
  install(s, 'labels', { matchConstraints: { resourceRules: [rule(['configmaps'])], ...here, objectSelector: { matchLabels: { check: 'me' } } }, validations: [{ expression: 'false', message: 'label check' }] });
  install(s, 'excluded', { matchConstraints: { resourceRules: [rule(['*'])], excludeResourceRules: [rule(['configmaps', 'services', 'pods', 'pods/*', 'serviceaccounts', 'serviceaccounts/token'])], ...here }, validations: [{ expression: 'false', message: 'everything but some' }] });
  install(s, 'sub', { matchConstraints: { resourceRules: [rule(['pods/status'], ['UPDATE'])], ...here }, validations: [{ expression: "request.subResource == 'status' && object.status.phase != 'Failed'", message: 'never fail' }] });
  install(s, 'names', { matchConstraints: { resourceRules: [{ ...rule(['configmaps']), resourceNames: ['special'] }], ...here }, validations: [{ expression: 'false', message: 'special is special' }] });
  inForce(s, 'variables', configMap('v', { a: '1', b: '2', c: '3' }), 422);
  s.post('labels-refused', CM, configMap('l', undefined, { labels: { check: 'me' } }), { until: { status: 422, withinMs: 20000 } });
  s.post('excluded-refused', '/api/v1/namespaces/${ns}/secrets', object('v1', 'Secret', 's'), { until: { status: 422, withinMs: 20000 } });
  s.post('names-refused', CM, configMap('special'), { until: { status: 422, withinMs: 20000 } });
  s.post('two-variables', CM, configMap('two', { a: '1', b: '2' }, { annotations: { locked: 'yes' } }), brief);
  s.patch('update-refused', 'merge', `${CM}/two`, { data: { a: '2' } }, { until: { status: 422, withinMs: 20000 } });
  s.patch('update-label', 'merge', `${CM}/two`, { metadata: { labels: { a: 'b' } } }, brief);
  s.post('kept', CM, configMap('kept'), quiet);
  s.del('delete-refused', `${CM}/kept`, { query: { dryRun: 'All' }, until: { status: 422, withinMs: 20000 } });
  s.del('delete-refused-again', `${CM}/kept`);
  s.step('delete-collection-refused', 'DELETE', CM, { query: { fieldSelector: 'metadata.name=kept' } });
  s.del('delete-other', `${CM}/two`);
  s.post('user-admin', CM, configMap('user-a'), brief);
  s.post('authz-admin', CM, configMap('authz-a'), brief);
  s.post('impersonated', CM, configMap('user-b'), { headers: { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' }, until: { status: 422, withinMs: 20000 } });
  s.post('pod', '/api/v1/namespaces/${ns}/pods', pod('p'), quiet);
  s.patch('sub-refused', 'merge', '/api/v1/namespaces/${ns}/pods/p/status', { status: { phase: 'Failed' } }, { query: { dryRun: 'All' }, until: { status: 422, withinMs: 20000 } });
  s.patch('sub-allowed', 'merge', '/api/v1/namespaces/${ns}/pods/p/status', { status: { phase: 'Running' } }, quiet);
}
{
  const s = scenario('policy-actions', AREA, { title: 'warn and audit' });
  install(s, 'warn', { validations: [{ expression: "!has(object.data) || !('old' in object.data)", message: 'old is going away' }, { expression: "!has(object.data) || !('older' in object.data)" }], auditAnnotations: [{ key: 'seen', valueExpression: "'yes'" }] }, { validationActions: ['Warn', 'Audit'] });
  s.post('warn', CM, configMap('w', { old: '1' }), { query: { dryRun: 'All' }, until: { path: '$.metadata.name', withinMs: 0 }, ...quiet, ignoreHeaders: ['warning'], note: 'may come before the policy is in force' });
  install(s, 'probe', { validations: [{ expression: "object.metadata.name != 'probe'" }] });
  inForce(s, 'probe', configMap('probe'), 422);
  s.post('warned', CM, configMap('warned', { old: '1', older: '2' }), { ...brief, pauseMs: 500 });
  s.post('not-warned', CM, configMap('not-warned', { new: '1' }), brief);
  s.patch('warned-on-patch', 'merge', `${CM}/not-warned`, { data: { old: '1' } }, brief);
  install(s, 'audit', { validations: [{ expression: "object.metadata.name != 'audited'", message: 'only noted' }] }, { validationActions: ['Audit'] });
  s.post('audited', CM, configMap('audited'), { ...brief, pauseMs: 500 });
  s.post('binding-dangling', VAPBS, vapBinding('nothing', {}), brief);
}
{
  const s = scenario('policy-refused', AREA, { title: 'policies and bindings that are not valid', namespaces: {} });
  const bad = (id, spec) => s.post(id, VAPS, vap('x', spec), { query: { dryRun: 'All' }, ...brief });
  bad('good', { validations: [{ expression: 'true' }] });
  bad('no-validations', {});
  bad('syntax', { validations: [{ expression: 'object.' }] });
  bad('not-bool', { validations: [{ expression: "'text'" }] });
  bad('unknown-variable', { validations: [{ expression: 'nonsense == 1' }] });
  bad('unknown-function', { validations: [{ expression: 'frobnicate(object)' }] });
  bad('empty-expression', { validations: [{ expression: '' }] });
  bad('bad-reason', { validations: [{ expression: 'true', reason: 'Because' }] });
  bad('message-newline', { validations: [{ expression: 'true', message: 'a\nb' }] });
  bad('message-expression-type', { validations: [{ expression: 'true', messageExpression: '1' }] });
  bad('bad-failure-policy', { failurePolicy: 'Maybe', validations: [{ expression: 'true' }] });
  bad('params-without-kind', { validations: [{ expression: 'params.x == 1' }] });
  bad('param-kind-empty', { paramKind: {}, validations: [{ expression: 'true' }] });
  bad('variable-bad-name', { variables: [{ name: 'a-b', expression: 'true' }], validations: [{ expression: 'true' }] });
  bad('variable-twice', { variables: [{ name: 'a', expression: 'true' }, { name: 'a', expression: 'false' }], validations: [{ expression: 'variables.a' }] });
  bad('match-condition-bad-name', { matchConditions: [{ name: 'a b', expression: 'true' }], validations: [{ expression: 'true' }] });
  bad('match-condition-not-bool', { matchConditions: [{ name: 'a', expression: '1' }], validations: [{ expression: 'true' }] });
  bad('no-rules', { matchConstraints: { resourceRules: [] }, validations: [{ expression: 'true' }] });
  bad('no-match-constraints', { matchConstraints: undefined, validations: [{ expression: 'true' }] });
  bad('bad-operation', { matchConstraints: { resourceRules: [rule(['pods'], ['GUESS'])] }, validations: [{ expression: 'true' }] });
  bad('wildcard-mixed', { matchConstraints: { resourceRules: [rule(['*', 'pods'])] }, validations: [{ expression: 'true' }] });
  bad('audit-annotation-bad-key', { auditAnnotations: [{ key: 'a b', valueExpression: "'x'" }] });
  bad('audit-annotation-only', { auditAnnotations: [{ key: 'a', valueExpression: "'x'" }] });
  const badBinding = (id, spec) => s.post(`binding-${id}`, VAPBS, vapBinding('x', spec), { query: { dryRun: 'All' }, ...brief });
  badBinding('no-policy', { policyName: '' });
  badBinding('no-actions', { validationActions: [] });
  badBinding('unknown-action', { validationActions: ['Shout'] });
  badBinding('deny-and-warn', { validationActions: ['Deny', 'Warn'] });
  badBinding('twice', { validationActions: ['Audit', 'Audit'] });
  badBinding('param-name-and-selector', { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Deny' } });
  badBinding('param-no-action', { paramRef: { name: 'a' } });
  badBinding('param-neither', { paramRef: { parameterNotFoundAction: 'Deny' } });
  const badMap = (id, spec) => s.post(`mutating-${id}`, MAPS, map('x', spec), { query: { dryRun: 'All' }, ...brief });
  const apply = (expression) => [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }];
  badMap('good', { mutations: apply('Object{}') });
  badMap('no-mutations', { mutations: [] });
  badMap('syntax', { mutations: apply('Object{') });
  badMap('wrong-type', { mutations: apply("'text'") });
  badMap('unknown-patch-type', { mutations: [{ patchType: 'Guess' }] });
  badMap('type-and-body-differ', { mutations: [{ patchType: 'JSONPatch', applyConfiguration: { expression: 'Object{}' } }] });
  badMap('json-patch-good', { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "add", path: "/metadata/labels", value: {"a": "b"}}]' } }] });
  badMap('json-patch-wrong-type', { mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '"x"' } }] });
  badMap('no-reinvocation', { reinvocationPolicy: undefined, mutations: apply('Object{}') });
  badMap('bad-reinvocation', { reinvocationPolicy: 'Sometimes', mutations: apply('Object{}') });
  badMap('delete-operation', { matchConstraints: { resourceRules: [rule(['configmaps'], ['DELETE'])] }, mutations: apply('Object{}') });
  const WEBHOOKS = `${ADM}/validatingwebhookconfigurations`;
  const hook = (rest) => object('admissionregistration.k8s.io/v1', 'ValidatingWebhookConfiguration', 'x-${id}', { webhooks: [{ name: 'a.golden.example.com', clientConfig: { url: 'https://example.com/' }, rules: [rule(['things'], ['CREATE'], ['golden.example.com'])], sideEffects: 'None', admissionReviewVersions: ['v1'], ...rest }] });
  const badHook = (id, rest) => s.post(`webhook-${id}`, WEBHOOKS, hook(rest), { query: { dryRun: 'All' }, ...brief });
  badHook('good', {});
  badHook('name', { name: 'short' });
  badHook('http-url', { clientConfig: { url: 'http://example.com/' } });
  badHook('url-and-service', { clientConfig: { url: 'https://example.com/', service: { namespace: 'a', name: 'b' } } });
  badHook('no-client', { clientConfig: {} });
  badHook('side-effects', { sideEffects: 'Some' });
  badHook('no-side-effects', { sideEffects: undefined });
  badHook('review-versions', { admissionReviewVersions: ['v9'] });
  badHook('timeout', { timeoutSeconds: 99 });
  badHook('failure-policy', { failurePolicy: 'Maybe' });
  badHook('match-policy', { matchPolicy: 'Nearly' });
  badHook('match-condition', { matchConditions: [{ name: 'a', expression: 'nonsense(' }] });
}
{
  const s = scenario('policy-mutate', AREA, { title: 'mutating policies', namespaces: { ns: '' } });
  const installMap = (name, spec, bindingSpec) => {
    s.post(`policy-${name}`, MAPS, map(name, spec), quiet);
    s.post(`binding-${name}`, MAPBS, mapBinding(name, bindingSpec), quiet);
  };
  const when = (prefix) => [{ name: 'n', expression: `object.metadata.name.startsWith('${prefix}')` }];
  installMap('label', { matchConditions: when('a-'), mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'touched': 'yes', 'who': request.userInfo.username}}}" } }] });
  const until = (path) => ({ until: { path, withinMs: 20000, everyMs: 100 } });
  s.post('label-in-force', CM, configMap('a-probe'), { query: { dryRun: 'All' }, ...until('$.metadata.labels.touched'), ...brief });
  s.post('label', CM, configMap('a-one', { x: '1' }, { labels: { mine: 'yes' } }));
  s.patch('label-on-patch', 'merge', `${CM}/a-one`, { metadata: { labels: { touched: 'no' } } }, brief);
  s.post('not-matched', CM, configMap('z-one'), brief);
  s.apply('label-on-apply', `${CM}/a-two`, configMap('a-two', { y: '1' }), 'm');
  installMap('json', { matchConditions: when('b-'), mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: "has(object.data) ? [JSONPatch{op: 'add', path: '/data/added', value: 'yes'}, JSONPatch{op: 'remove', path: '/data/drop'}] : [JSONPatch{op: 'add', path: '/data', value: {'added': 'fresh'}}]" } }] });
  s.post('json-in-force', CM, configMap('b-probe'), { query: { dryRun: 'All' }, ...until('$.data.added'), ...brief });
  s.post('json', CM, configMap('b-one', { drop: '1', keep: '2' }), brief);
  s.post('json-fails', CM, configMap('b-two', { keep: '2' }), { note: 'removing a missing member: the patch fails and so does the request' });
  installMap('error', { matchConditions: when('c-'), mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'copy': object.data['needed']}}" } }] });
  s.post('error-in-force', CM, configMap('c-probe', { needed: '1' }), { query: { dryRun: 'All' }, ...until('$.data.copy'), ...brief });
  s.post('error', CM, configMap('c-one', { other: '1' }));
  installMap('ignored', { failurePolicy: 'Ignore', matchConditions: when('d-'), mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{data: {'copy': object.data['needed']}}" } }] });
  s.post('ignored-in-force', CM, configMap('d-probe', { needed: '1' }), { query: { dryRun: 'All' }, ...until('$.data.copy'), ...brief });
  s.post('ignored', CM, configMap('d-one', { other: '1' }), brief);
  // a mutation happens before the validation
  s.post('policy-check', VAPS, vap('check', { matchConditions: when('a-'), validations: [{ expression: "'touched' in object.metadata.labels", message: 'not touched' }, { expression: "!has(object.data) || !('bad' in object.data)", message: 'bad data' }] }), quiet);
  s.post('binding-check', VAPBS, vapBinding('check'), quiet);
  s.post('check-in-force', CM, configMap('a-bad', { bad: '1' }), { query: { dryRun: 'All' }, until: { status: 422, withinMs: 20000 } });
  s.post('mutated-then-checked', CM, configMap('a-three'), brief);
  s.del('unbind', `${MAPBS}/label-\${id}`, quiet);
  s.post('unbound', CM, configMap('a-later', {}, { labels: { touched: 'by-hand' } }), { query: { dryRun: 'All' }, until: { path: '$.metadata.labels.touched', equals: 'by-hand', withinMs: 20000 }, ...brief });
}

{
  const s = scenario('policy-params', AREA, { title: 'validating and mutating policies with parameters', namespaces: { ns: '', params: 'b' } });
  const GROUP = '${id}.example.com';
  const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  s.post('define', CRDS, object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', `limits.${GROUP}`, { spec: { group: GROUP, scope: 'Namespaced', names: { plural: 'limits', kind: 'Limit' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { max: { type: 'integer' }, tier: { type: 'string' } } } } }] } }), quiet);
  const PARAMS = `/apis/${GROUP}/v1/namespaces/\${params}/limits`;
  s.get('defined', PARAMS, { ...quiet, until: { status: 200, withinMs: 15000 } });
  const limit = (name, rest) => object(`${GROUP}/v1`, 'Limit', name, rest, { labels: { role: name } });
  s.post('param', PARAMS, limit('small', { max: 2, tier: 'gold' }), { ...quiet, until: { status: 201, withinMs: 10000 } });
  const paramKind = { apiVersion: `${GROUP}/v1`, kind: 'Limit' };
  const when = (prefix) => [{ name: 'n', expression: `object.metadata.name.startsWith('${prefix}')` }];
  const late = (status) => ({ query: { dryRun: 'All' }, until: { status, withinMs: 60000, everyMs: 500 } });
  s.post('policy-checked', VAPS, vap('checked', { paramKind, matchConditions: when('par-'), validations: [{ expression: '!has(object.data) || object.data.size() <= params.max', messageExpression: "'at most ' + string(params.max)" }] }), quiet);
  s.post('binding-checked', VAPBS, vapBinding('checked', { paramRef: { name: 'small', namespace: '${params}', parameterNotFoundAction: 'Deny' }, matchResources: { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '${ns}' } } } }), quiet);
  s.post('probe', CM, configMap('par-x', { a: '1', b: '2' }), { ...late(201), ...quiet, note: 'a new kind of parameter may take the server half a minute to find' });
  s.post('refused', CM, configMap('par-x', { a: '1', b: '2', c: '3' }), late(422));
  s.post('good', CM, configMap('par-good', { a: '1', b: '2' }), brief);
  s.post('other-namespace', '/api/v1/namespaces/${params}/configmaps', configMap('par-x', { a: '1', b: '2', c: '3' }), brief);
  s.patch('raise', 'merge', `${PARAMS}/small`, { max: 5 }, quiet);
  s.post('raised', CM, configMap('par-y', { a: '1', b: '2', c: '3' }), { ...late(201), ...brief });
  s.patch('by-selector', 'json', `${VAPBS}/checked-\${id}`, [{ op: 'replace', path: '/spec/paramRef', value: { selector: { matchLabels: { role: 'strict' } }, namespace: '${params}', parameterNotFoundAction: 'Allow' } }], quiet);
  s.post('nothing-selected', CM, configMap('par-z', { a: '1', b: '2', c: '3', d: '4', e: '5', f: '6' }), { ...late(201), ...brief });
  s.post('param-strict', PARAMS, limit('strict', { max: 1 }), quiet);
  s.post('selected', CM, configMap('par-z', { a: '1', b: '2' }), late(422));
  s.del('param-gone', `${PARAMS}/strict`, quiet);
  s.patch('deny-missing', 'json', `${VAPBS}/checked-\${id}`, [{ op: 'replace', path: '/spec/paramRef', value: { name: 'none', namespace: '${params}', parameterNotFoundAction: 'Deny' } }], quiet);
  s.post('missing-denied', CM, configMap('par-w'), late(422));
  s.del('unbind-checked', `${VAPBS}/checked-\${id}`, quiet);
  s.post('unbound', CM, configMap('par-w'), { ...late(201), ...brief });
  s.post('policy-filled', MAPS, map('filled', { paramKind, matchConditions: when('fill-'), variables: [{ name: 'tier', expression: 'params.tier' }], mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: "Object{metadata: Object.metadata{annotations: {'tier': variables.tier}}}" } }] }), quiet);
  s.post('binding-filled', MAPBS, mapBinding('filled', { paramRef: { name: 'small', namespace: '${params}', parameterNotFoundAction: 'Deny' } }), quiet);
  s.post('fill-probe', CM, configMap('fill-probe'), { query: { dryRun: 'All' }, until: { path: '$.metadata.annotations.tier', withinMs: 60000, everyMs: 500 }, ...brief });
  s.post('filled', CM, configMap('fill-one'), brief);
}
