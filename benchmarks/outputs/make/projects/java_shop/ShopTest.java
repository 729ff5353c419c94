import static org.junit.Assert.assertEquals;

import java.util.List;
import org.junit.Test;

public class ShopTest {
    @Test public void totalOfNothing() { assertEquals(0, Shop.total(List.of())); }
    @Test public void totalOfOne() { assertEquals(750, Shop.total(List.of(new Shop.Order(1, "SKU-1", 3, 250)))); }
    @Test public void shippingOfALetter() { assertEquals(450, Shop.shipping(200)); }
    @Test public void shippingOfAParcel() { assertEquals(790, Shop.shipping(1_001)); }
    @Test public void shippingOfFiveKilograms() { assertEquals(790, Shop.shipping(5_000)); }
    @Test public void shippingOfABox() { assertEquals("price of a box", 1_400, Shop.shipping(5_001)); }
    @Test public void shippingOfAPallet() { assertEquals("price of a pallet", 3_200, Shop.shipping(45_000)); }
    @Test public void orderIsParsed() {
        assertEquals(new Shop.Order(7, "SKU-7", 2, 1_250), Shop.parse("7; SKU-7 ;2;1250"));
    }
    @Test(expected = IllegalArgumentException.class) public void orderWithoutPrice() { Shop.parse("7;SKU-7;2"); }
    @Test public void ordersAreLoaded() {
        assertEquals(2, Shop.load(List.of("1;A;1;100", "2;B;2;250")).size());
    }
    @Test public void threeHundredOrders() {
        for (int id = 0; id < 300; id++) {
            System.out.println("order " + id + " costs " + Shop.parse(id + ";SKU;1;" + id * 12).cents() + " cents");
        }
    }
}
