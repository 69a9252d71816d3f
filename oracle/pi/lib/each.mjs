/** Give every item to `work`, at most `atOnce` of them at the same time. */
export async function forEachOf(items, atOnce, work) {
  const queue = items.entries()
  const worker = async () => {
    for (const [n, item] of queue) await work(item, n)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
