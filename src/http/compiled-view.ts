import { readFileSync } from 'node:fs'
import ejs from 'ejs'
import { packageFile } from '../config/index.js'

/**
 * `src/<name>.ejs` made into a function, once: a page that stands alone, of those that strangers and recipients see.
 * It sees the view as `it` and writes data with `<%= %>` only, which escapes it. Views lie in the sources also when these are compiled.
 */
export function compiledView<View extends object>(name: string): (view: View) => string {
  const filename = packageFile(`src/${name}.ejs`)
  const options = { filename, strict: true, _with: false, localsName: 'it' }
  return ejs.compile(readFileSync(filename, 'utf8'), options)
}
