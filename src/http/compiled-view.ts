import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import { packageFile } from '../config/index.js'

/**
 * Compiles `src/<name>.ejs` into a function, once: a standalone page that strangers and recipients see. The page gets
 * the view as `it` and writes data only with `<%= %>`, which escapes it. Views stay in the sources even when these are
 * compiled.
 */
export function compiledView<View extends object>(name: string): (view: View) => string {
  const filename = packageFile(`src/${name}.ejs`)
  const options = { filename, strict: true, _with: false, localsName: 'it' }
  return ejs.compile(readFileSync(filename, 'utf8'), options)
}
