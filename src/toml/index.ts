/**
 * The operator's files. All are read by the same rules: all problems of a file are told at once, with their lines; an
 * unknown key is a problem, and the name that is probably meant is told.
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
