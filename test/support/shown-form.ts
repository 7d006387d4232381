/** What a browser would send of the form that assigns an import's columns, unchanged. */
export function shownForm(page: string): Record<string, string> {
  const html = page.slice(page.indexOf('class="mapping"') - 1_500)
  const fields: Record<string, string> = {}
  for (const [tag, name = ''] of html.matchAll(
    /<(?:input|textarea)\b[^>]*? name="([^"]+)"[^>]*>/g,
  )) {
    if (/type="(checkbox|radio)"/.test(tag) && !tag.includes(' checked')) continue
    fields[name] = /value="([^"]*)"/.exec(tag)?.[1] ?? ''
  }
  for (const [, name = '', options = ''] of html.matchAll(
    /<select[^>]* name="([^"]+)"[^>]*>([\s\S]*?)<\/select>/g,
  )) {
    const [, value = ''] = /<option value="([^"]*)" selected/.exec(options) ?? []
    fields[name] = value
  }
  return fields
}
