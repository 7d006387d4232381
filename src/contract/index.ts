/**
 * What an operation of the API is, said once. `src/<domain>/contract.ts` has the operations of a domain; routes, the
 * OpenAPI document, the client, the rights of keys and the names in the audit log are made from them.
 */

export { addressField } from './address-field.js'
export {
  type AnswerExample,
  answer,
  auditOf,
  type BodyOf,
  byId,
  byTask,
  type Contract,
  checked,
  closedOf,
  type Described,
  manyOf,
  type Named,
  type Operation,
  type OperationWords,
  operation,
  type Permission,
  type ShapedField,
  serve,
  servePublic,
  shape,
  taskNumber,
} from './operation.js'
export {
  confirmation,
  deletedFields,
  type Example,
  invalidField,
  type RefusalExample,
  refusal,
} from './refusal.js'
export {
  accountRefusals,
  ceiling,
  foreignCursor,
  inexactNumber,
  pageFields,
  pageParams,
  pageQuery,
  pastDue,
  storageFull,
  usualPage,
} from './refusals.js'
