/**
 * Files of the operator's. All are read with the same manners: every problem of a file is told at once, with its line;
 * a key that is not known is one, and the name that is probably meant is told.
 */

export { nearestOf } from './nearest.js'
export {
  namedTables,
  noFile,
  type OperatorFile,
  openFile,
  quoted,
  refuseOthers,
  type TomlPlace,
  tableAt,
  wholeFile,
  wrongValue,
} from './problems.js'
export { isTable, parseToml, type Table, writeToml } from './read.js'
