/** A page without the tags that set names in sentences apart, so that tests can name sentences as they are read. */
export const asRead = (html: string): string => html.replace(/<\/?bdi>/g, '')
