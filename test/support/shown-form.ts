/** What a browser sends of the form in which columns of an import are given their meaning: as it is shown. */
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
