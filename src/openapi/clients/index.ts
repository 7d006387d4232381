/**
 * Clients in other languages than ours, printed from the same document as `client/types.ts`: a hand-written core in its
 * language, and the types and methods of the document. Only the build opens this folder (`bin/pack-clients`).
 */
export { printGo } from './go.js'
export { type ClientModel, modelOf } from './operations.js'
export { printPhp } from './php.js'
export { printPython } from './python.js'
