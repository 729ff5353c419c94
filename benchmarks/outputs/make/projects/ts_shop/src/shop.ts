export interface Order { id: number; sku: string; count: number; cents: number; note?: string }
export type Country = 'AT' | 'DE' | 'FR' | 'IT';
export const RATES: Record<Country, number> = { AT: 20, DE: 19, FR: 20, IT: 22 };

export function total(orders: Order[]): number {
  return orders.reduce((sum, order) => sum + order.cents * order.count, 0);
}
export function withTax(cents: number, country: Country): number {
  return Math.round(cents * (1 + RATES[country] / 100));
}
export function parseOrder(line: string): Order {
  const [id, sku, count, cents] = line.split(';');
  return { id: Number(id), sku: sku.trim(), count: Number(count), cents: Number(cents) };
}
export async function fetchOrder(id: number): Promise<Order> {
  return parseOrder(`${id};SKU-${id};1;100`);
}
