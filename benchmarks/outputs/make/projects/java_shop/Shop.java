import java.util.ArrayList;
import java.util.List;

/** Prices of a shop. */
public class Shop {
    public record Order(int id, String sku, int count, long cents) {}

    public static Order parse(String line) {
        String[] fields = line.split(";");
        if (fields.length != 4) throw new IllegalArgumentException("order has " + fields.length + " fields, not 4");
        return new Order(Integer.parseInt(fields[0].trim()), fields[1].trim(),
                Integer.parseInt(fields[2].trim()), Long.parseLong(fields[3].trim()));
    }

    public static long total(List<Order> orders) {
        long cents = 0;
        for (Order order : orders) cents += order.cents() * order.count();
        return cents;
    }

    public static long shipping(long grams) {
        if (grams <= 1_000) return 450;
        if (grams <= 5_000) return 790;
        if (grams <= 20_000) return 1_400;
        return 1_400 + (grams - 20_000 + 9_999) / 10_000 * 600;
    }

    public static List<Order> load(List<String> lines) {
        List<Order> orders = new ArrayList<>();
        int number = 0;
        for (String line : lines) {
            number++;
            try {
                orders.add(parse(line));
            } catch (RuntimeException cause) {
                throw new IllegalStateException("line " + number + " of the orders is not readable", cause);
            }
        }
        return orders;
    }
}
