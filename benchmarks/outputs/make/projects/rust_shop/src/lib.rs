//! Prices of a shop: totals, taxes, shipping and the parsing of orders.

#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    pub id: u32,
    pub sku: String,
    pub count: u32,
    pub cents: u64,
}

#[derive(Debug, PartialEq)]
pub enum OrderError {
    Fields(usize),
    Number(String),
}

pub fn parse_order(line: &str) -> Result<Order, OrderError> {
    let fields: Vec<&str> = line.split(';').map(str::trim).collect();
    if fields.len() != 4 {
        return Err(OrderError::Fields(fields.len()));
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| OrderError::Number(text.to_string()));
    Ok(Order {
        id: number(fields[0])? as u32,
        sku: fields[1].to_string(),
        count: number(fields[2])? as u32,
        cents: number(fields[3])?,
    })
}

pub fn total(orders: &[Order]) -> u64 {
    orders.iter().map(|order| order.cents * u64::from(order.count)).sum()
}

pub fn with_tax(cents: u64, percent: u64) -> u64 {
    (cents * (100 + percent) + 50) / 100
}

pub fn shipping(grams: u64) -> u64 {
    match grams {
        0..=1_000 => 450,
        1_001..=5_000 => 790,
        5_001..=20_000 => 1_400,
        _ => 1_400 + (grams - 20_000).div_ceil(10_000) * 600,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    macro_rules! cases {
        ($($name:ident: $left:expr => $right:expr;)*) => {
            $(#[test] fn $name() { println!("case {} runs", stringify!($name)); assert_eq!($left, $right); })*
        };
    }

    fn order(id: u32, count: u32, cents: u64) -> Order {
        Order { id, sku: format!("SKU-{id}"), count, cents }
    }

    cases! {
        total_of_nothing: total(&[]) => 0;
        total_of_one: total(&[order(1, 3, 250)]) => 750;
        total_of_two: total(&[order(1, 3, 250), order(2, 1, 99)]) => 849;
        tax_of_austria: with_tax(10_000, 20) => 12_000;
        tax_of_germany: with_tax(10_000, 19) => 11_900;
        tax_of_hungary: with_tax(10_000, 27) => 12_700;
        tax_of_sweden: with_tax(10_000, 25) => 12_500;
        tax_is_rounded_up_from_half: with_tax(250, 21) => 303;
        tax_is_rounded_down: with_tax(99, 7) => 106;
        shipping_of_a_letter: shipping(200) => 450;
        shipping_of_one_kilogram: shipping(1_000) => 450;
        shipping_of_a_parcel: shipping(1_001) => 790;
        shipping_of_five_kilograms: shipping(5_000) => 790;
        shipping_of_a_box: shipping(5_001) => 1_400;
        shipping_of_a_pallet: shipping(45_000) => 3_200;
        shipping_of_thirty_kilograms: shipping(30_000) => 2_000;
        order_is_parsed: parse_order("7; SKU-7 ;2;1250") => Ok(order(7, 2, 1_250));
        order_without_price: parse_order("7;SKU-7;2") => Err(OrderError::Fields(3));
        order_with_a_word: parse_order("7;SKU-7;two;1250") => Err(OrderError::Number("two".to_string()));
        order_of_nothing: parse_order("") => Err(OrderError::Fields(1));
    }

    #[test]
    fn a_thousand_orders_are_parsed() {
        for id in 0..1_000 {
            println!("order {id} is read");
            assert_eq!(parse_order(&format!("{id};SKU-{id};{};{}", id % 9, id * 12)).unwrap().id, id);
        }
    }
}
