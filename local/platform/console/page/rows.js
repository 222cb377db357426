// Elements, and rows that stay.

/** An element with attributes and children. Text is text: names of keys and databases are never read as HTML. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([attribute, value]) => made.setAttribute(attribute, value));
  made.append(...children);
  return made;
}

/**
 * Returns a function that shows items in a table's body. The row of an item is kept while the item is shown, so that
 * its buttons keep the focus.
 *
 * @param nameOf the name of an item; items come sorted by it
 * @param create makes the row of a name: `{ row, update(item) }`
 */
export function rowsOf(body, nameOf, create) {
  const rows = new Map();
  return (items) => {
    const names = new Set(items.map(nameOf));
    for (const [name, { row }] of rows) {
      if (!names.has(name)) {
        row.remove();
        rows.delete(name);
      }
    }
    items.forEach((item, index) => {
      const name = nameOf(item);
      if (!rows.has(name)) {
        rows.set(name, create(name));
      }
      const { row, update } = rows.get(name);
      update(item);
      if (body.children[index] !== row) {
        body.insertBefore(row, body.children[index] ?? null);
      }
    });
  };
}
